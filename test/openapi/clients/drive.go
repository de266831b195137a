// Calls every operation once, with the types that oapi-codegen makes of the document. Ends at the first answer that is no success.
package main

import (
	"context"
	"net/http"
	"os"
)

type answer interface {
	StatusCode() int
	GetBody() []byte
}

// done returns an answer that is a success.
func done[A answer](got A, err error) A {
	must(err)
	if status := got.StatusCode(); status < 200 || status > 299 {
		fail("%d %s", status, got.GetBody())
	}
	return got
}

func to[T any](value T) *T { return &value }

func main() {
	ctx, key := context.Background(), os.Args[2]
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := NewClientWithResponses(os.Args[1], WithRequestEditorFn(authorize))
	must(err)
	done(client.GetOpenApiWithResponse(ctx))
	driveEdges(ctx, client)
	driveOthers(ctx, client)
	driveModules(ctx, client)
}

func driveEdges(ctx context.Context, client *ClientWithResponses) {
	weights := map[string]int{"bkdtg_a": 90}
	backend := done(client.CreateWeightedBackendWithResponse(ctx, &CreateWeightedBackendParams{ServiceVersion: N2}, WeightedBackendCreate{Backends: &weights})).JSON201
	weights["bkdtg_a"] = 50
	changed := done(client.UpdateWeightedBackendWithResponse(ctx, backend.Id, &UpdateWeightedBackendParams{ServiceVersion: N2}, WeightedBackendUpdate{Backends: &weights})).JSON200
	expect(changed.Backends["bkdtg_a"] == 50, "the new weight")
	done(client.GetWeightedBackendWithResponse(ctx, backend.Id, &GetWeightedBackendParams{ServiceVersion: N2}))
	listed := done(client.ListWeightedBackendsWithResponse(ctx, &ListWeightedBackendsParams{ServiceVersion: N2})).JSON200
	expect(len(listed.Backends) == 1, "one backend")

	config := map[string]any{"enforce": true, "allow": []string{"203.0.113.0/24"}}
	restrict, log := PolicyActionMutate{Type: "restrict-ips", Config: &config}, PolicyActionMutate{Type: "log"}
	rules := []PolicyRuleMutate{
		{Name: to("office"), Actions: &[]PolicyActionMutate{restrict, log}},
		{Name: to("others"), Actions: &[]PolicyActionMutate{log, {Type: "deny"}}},
	}
	body := TCPEdgeCreate{Hostports: &[]string{"1.tcp.example.net:20001"}, Policy: &TCPEdgePolicyMutate{Inbound: &rules}}
	edge := done(client.CreateTCPEdgeWithResponse(ctx, &CreateTCPEdgeParams{ServiceVersion: N2}, body)).JSON201
	expect(len(edge.Policy.Inbound) == 2 && edge.Policy.Inbound[1].Actions[1].Type == "deny", "two rules of two actions")
	stored := edge.Policy.Inbound[0].Actions[0].Config
	expect(stored != nil && (*stored)["enforce"] == true, "the configuration")
	description := DescriptionMutate("a")
	done(client.UpdateTCPEdgeWithResponse(ctx, edge.Id, &UpdateTCPEdgeParams{ServiceVersion: N2}, TCPEdgeUpdate{Description: &description}))
	read := done(client.GetTCPEdgeWithResponse(ctx, edge.Id, &GetTCPEdgeParams{ServiceVersion: N2})).JSON200
	expect(read.Description == "a", "the new description")
	edges := done(client.ListTCPEdgesWithResponse(ctx, &ListTCPEdgesParams{ServiceVersion: N2, Limit: to(1)})).JSON200
	expect(len(edges.TcpEdges) == 1, "one edge")

	module := TCPEdgeBackendMutate{BackendId: backend.Id}
	done(client.ReplaceTCPEdgeBackendWithResponse(ctx, edge.Id, &ReplaceTCPEdgeBackendParams{ServiceVersion: N2}, module))
	shown := done(client.GetTCPEdgeBackendWithResponse(ctx, edge.Id, &GetTCPEdgeBackendParams{ServiceVersion: N2})).JSON200
	expect(shown.Backend.Id == backend.Id, "the backend")
	done(client.DeleteTCPEdgeBackendWithResponse(ctx, edge.Id, &DeleteTCPEdgeBackendParams{ServiceVersion: N2}))
	restriction := TCPEdgeIpRestrictionMutate{IpPolicyIds: []string{"ipp_office"}}
	done(client.ReplaceTCPEdgeIpRestrictionWithResponse(ctx, edge.Id, &ReplaceTCPEdgeIpRestrictionParams{ServiceVersion: N2}, restriction))
	done(client.GetTCPEdgeIpRestrictionWithResponse(ctx, edge.Id, &GetTCPEdgeIpRestrictionParams{ServiceVersion: N2}))
	done(client.DeleteTCPEdgeIpRestrictionWithResponse(ctx, edge.Id, &DeleteTCPEdgeIpRestrictionParams{ServiceVersion: N2}))
	done(client.DeleteTCPEdgeWithResponse(ctx, edge.Id, &DeleteTCPEdgeParams{ServiceVersion: N2}))
	done(client.DeleteWeightedBackendWithResponse(ctx, backend.Id, &DeleteWeightedBackendParams{ServiceVersion: N2}))
}

func driveOthers(ctx context.Context, client *ClientWithResponses) {
	restriction := done(client.CreateIPRestrictionWithResponse(ctx, &CreateIPRestrictionParams{ServiceVersion: N2}, IPRestrictionCreate{Type: IPRestrictionCreateTypeDashboard, IpPolicyIds: []string{"ipp_office"}})).JSON201
	done(client.UpdateIPRestrictionWithResponse(ctx, restriction.Id, &UpdateIPRestrictionParams{ServiceVersion: N2}, IPRestrictionUpdate{Enforced: to(true)}))
	enforced := done(client.GetIPRestrictionWithResponse(ctx, restriction.Id, &GetIPRestrictionParams{ServiceVersion: N2})).JSON200
	expect(enforced.Enforced, "enforced")
	done(client.ListIPRestrictionsWithResponse(ctx, &ListIPRestrictionsParams{ServiceVersion: N2}))
	done(client.DeleteIPRestrictionWithResponse(ctx, restriction.Id, &DeleteIPRestrictionParams{ServiceVersion: N2}))

	ingress := done(client.CreateAgentIngressWithResponse(ctx, &CreateAgentIngressParams{ServiceVersion: N2}, AgentIngressCreate{Domain: "ingress.example.com"})).JSON201
	policy := AgentIngressCertificateManagementPolicyMutate{
		Authority:      to(AgentIngressCertificateManagementPolicyMutateAuthorityLetsencrypt),
		PrivateKeyType: to(AgentIngressCertificateManagementPolicyMutatePrivateKeyTypeEcdsa),
	}
	done(client.UpdateAgentIngressWithResponse(ctx, ingress.Id, &UpdateAgentIngressParams{ServiceVersion: N2}, AgentIngressUpdate{CertificateManagementPolicy: &policy}))
	done(client.GetAgentIngressWithResponse(ctx, ingress.Id, &GetAgentIngressParams{ServiceVersion: N2}))
	ingresses := done(client.ListAgentIngressesWithResponse(ctx, &ListAgentIngressesParams{ServiceVersion: N2})).JSON200
	expect(len(ingresses.Ingresses) == 1, "one ingress")
	done(client.DeleteAgentIngressWithResponse(ctx, ingress.Id, &DeleteAgentIngressParams{ServiceVersion: N2}))

	credential := done(client.CreateCredentialWithResponse(ctx, &CreateCredentialParams{ServiceVersion: N2}, CredentialCreate{Acl: &[]string{"bind:*.example.com"}})).JSON201
	expect(credential.Token != nil && *credential.Token != "", "a token")
	done(client.UpdateCredentialWithResponse(ctx, credential.Id, &UpdateCredentialParams{ServiceVersion: N2}, CredentialUpdate{Acl: &[]string{}}))
	again := done(client.GetCredentialWithResponse(ctx, credential.Id, &GetCredentialParams{ServiceVersion: N2})).JSON200
	expect(again.Token == nil, "no token any more")
	done(client.ListCredentialsWithResponse(ctx, &ListCredentialsParams{ServiceVersion: N2}))
	done(client.DeleteCredentialWithResponse(ctx, credential.Id, &DeleteCredentialParams{ServiceVersion: N2}))

	request := SSHUserCertificateCreate{
		SshCertificateAuthorityId: "sshca_team",
		PublicKey:                 publicKey,
		Principals:                &[]string{"deploy"},
		CriticalOptions:           &map[string]string{"source-address": "203.0.113.0/24"},
	}
	certificate := done(client.CreateSSHUserCertificateWithResponse(ctx, &CreateSSHUserCertificateParams{ServiceVersion: N2}, request)).JSON201
	description := DescriptionMutate("b")
	done(client.UpdateSSHUserCertificateWithResponse(ctx, certificate.Id, &UpdateSSHUserCertificateParams{ServiceVersion: N2}, SSHUserCertificateUpdate{Description: &description}))
	done(client.GetSSHUserCertificateWithResponse(ctx, certificate.Id, &GetSSHUserCertificateParams{ServiceVersion: N2}))
	done(client.ListSSHUserCertificatesWithResponse(ctx, &ListSSHUserCertificatesParams{ServiceVersion: N2}))
	done(client.DeleteSSHUserCertificateWithResponse(ctx, certificate.Id, &DeleteSSHUserCertificateParams{ServiceVersion: N2}))

	report := done(client.CreateAbuseReportWithResponse(ctx, &CreateAbuseReportParams{ServiceVersion: N2}, AbuseReportCreate{Urls: []string{"https://phishing.example.com/"}})).JSON201
	done(client.GetAbuseReportWithResponse(ctx, report.Id, &GetAbuseReportParams{ServiceVersion: N2}))
}

func driveModules(ctx context.Context, client *ClientWithResponses) {
	const edge, route = "edghts_shop", "edghtsrt_shop"
	tls := HTTPSEdgeMutualTlsMutate{CertificateAuthorityIds: []string{"ca_team"}}
	done(client.ReplaceHTTPSEdgeMutualTlsWithResponse(ctx, edge, &ReplaceHTTPSEdgeMutualTlsParams{ServiceVersion: N2}, tls))
	done(client.GetHTTPSEdgeMutualTlsWithResponse(ctx, edge, &GetHTTPSEdgeMutualTlsParams{ServiceVersion: N2}))
	done(client.DeleteHTTPSEdgeMutualTlsWithResponse(ctx, edge, &DeleteHTTPSEdgeMutualTlsParams{ServiceVersion: N2}))

	breaker := HTTPSEdgeRouteCircuitBreakerMutate{NumBuckets: to(10)}
	done(client.ReplaceHTTPSEdgeRouteCircuitBreakerWithResponse(ctx, edge, route, &ReplaceHTTPSEdgeRouteCircuitBreakerParams{ServiceVersion: N2}, breaker))
	shown := done(client.GetHTTPSEdgeRouteCircuitBreakerWithResponse(ctx, edge, route, &GetHTTPSEdgeRouteCircuitBreakerParams{ServiceVersion: N2})).JSON200
	expect(shown.NumBuckets == 10, "the buckets")
	done(client.DeleteHTTPSEdgeRouteCircuitBreakerWithResponse(ctx, edge, route, &DeleteHTTPSEdgeRouteCircuitBreakerParams{ServiceVersion: N2}))

	headers := HTTPSEdgeRouteRequestHeadersMutate{Add: &map[string]string{"x-environment": "production"}}
	done(client.ReplaceHTTPSEdgeRouteRequestHeadersWithResponse(ctx, edge, route, &ReplaceHTTPSEdgeRouteRequestHeadersParams{ServiceVersion: N2}, headers))
	done(client.GetHTTPSEdgeRouteRequestHeadersWithResponse(ctx, edge, route, &GetHTTPSEdgeRouteRequestHeadersParams{ServiceVersion: N2}))
	done(client.DeleteHTTPSEdgeRouteRequestHeadersWithResponse(ctx, edge, route, &DeleteHTTPSEdgeRouteRequestHeadersParams{ServiceVersion: N2}))

	filter := HTTPSEdgeRouteUserAgentFilterMutate{Deny: &[]string{"bot"}}
	done(client.ReplaceHTTPSEdgeRouteUserAgentFilterWithResponse(ctx, edge, route, &ReplaceHTTPSEdgeRouteUserAgentFilterParams{ServiceVersion: N2}, filter))
	done(client.GetHTTPSEdgeRouteUserAgentFilterWithResponse(ctx, edge, route, &GetHTTPSEdgeRouteUserAgentFilterParams{ServiceVersion: N2}))
	done(client.DeleteHTTPSEdgeRouteUserAgentFilterWithResponse(ctx, edge, route, &DeleteHTTPSEdgeRouteUserAgentFilterParams{ServiceVersion: N2}))
}
