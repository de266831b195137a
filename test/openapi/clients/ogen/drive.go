// Calls every operation once, with the types that ogen makes of the document. Ends at the first answer that is no success.
package main

import (
	"context"
	"net/url"
	"os"

	"drive/api"
)

const v = api.Version2

// as returns an answer that is a success: other answers have other types.
func as[Success any](got any, err error) Success {
	must(err)
	value, isSuccess := got.(Success)
	if !isSuccess {
		fail("%T %+v", got, got)
	}
	return value
}

type key string

func (k key) ApiKey(context.Context, api.OperationName) (api.ApiKey, error) {
	return api.ApiKey{Token: string(k)}, nil
}

func main() {
	client, err := api.NewClient(os.Args[1], key(os.Args[2]))
	must(err)
	ctx := context.Background()
	_, err = client.GetOpenApi(ctx)
	must(err)
	driveEdges(ctx, client)
	driveOthers(ctx, client)
	driveModules(ctx, client)
}

func driveEdges(ctx context.Context, c *api.Client) {
	weights := api.WeightedBackendCreateBackends{"bkdtg_a": 90}
	pool := as[*api.WeightedBackendHeaders](c.CreateWeightedBackend(ctx, &api.WeightedBackendCreate{Backends: api.NewOptNilWeightedBackendCreateBackends(weights)}, api.CreateWeightedBackendParams{ServiceVersion: v})).Response
	changed := as[*api.WeightedBackendHeaders](c.UpdateWeightedBackend(ctx, &api.WeightedBackendUpdate{Backends: api.NewOptNilWeightedBackendUpdateBackends(api.WeightedBackendUpdateBackends{"bkdtg_a": 50})}, api.UpdateWeightedBackendParams{ID: pool.ID, ServiceVersion: v})).Response
	expect(changed.Backends["bkdtg_a"] == 50, "the new weight")
	as[*api.WeightedBackendHeaders](c.GetWeightedBackend(ctx, api.GetWeightedBackendParams{ID: pool.ID, ServiceVersion: v}))
	listed := as[*api.WeightedBackendListHeaders](c.ListWeightedBackends(ctx, api.ListWeightedBackendsParams{ServiceVersion: v})).Response
	expect(len(listed.Backends) == 1, "one backend")

	log, deny := api.PolicyActionMutate{Type: "log"}, api.PolicyActionMutate{Type: "deny"}
	rule := func(name string) api.PolicyRuleMutate {
		actions := []api.PolicyActionMutate{log, deny}
		return api.PolicyRuleMutate{Name: api.NewOptNilString(name), Actions: api.NewOptNilPolicyActionMutateArray(actions)}
	}
	rules := api.NewOptNilPolicyRuleMutateArray([]api.PolicyRuleMutate{rule("first"), rule("second")})
	body := &api.TCPEdgeCreate{
		Hostports:   api.NewOptNilStringArray([]string{"1.tcp.example.net:20001"}),
		Description: api.NewOptNilDescriptionMutate("a"),
		Policy:      api.NewOptNilTCPEdgePolicyMutate(api.TCPEdgePolicyMutate{Inbound: rules}),
	}
	edge := as[*api.TCPEdgeHeaders](c.CreateTCPEdge(ctx, body, api.CreateTCPEdgeParams{ServiceVersion: v})).Response
	as[*api.TCPEdgeHeaders](c.UpdateTCPEdge(ctx, &api.TCPEdgeUpdate{Description: api.NewOptNilString("b")}, api.UpdateTCPEdgeParams{ID: edge.ID, ServiceVersion: v}))
	read := as[*api.TCPEdgeHeaders](c.GetTCPEdge(ctx, api.GetTCPEdgeParams{ID: edge.ID, ServiceVersion: v})).Response
	expect(read.Description == "b", "the new description")
	as[*api.TCPEdgeListHeaders](c.ListTCPEdges(ctx, api.ListTCPEdgesParams{Limit: api.NewOptInt(1), ServiceVersion: v}))
	backend := &api.TCPEdgeBackendMutate{BackendID: pool.ID}
	as[*api.TCPEdgeBackendHeaders](c.ReplaceTCPEdgeBackend(ctx, backend, api.ReplaceTCPEdgeBackendParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.TCPEdgeBackendHeaders](c.GetTCPEdgeBackend(ctx, api.GetTCPEdgeBackendParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.Gone](c.DeleteTCPEdgeBackend(ctx, api.DeleteTCPEdgeBackendParams{ID: edge.ID, ServiceVersion: v}))
	policies := &api.TCPEdgeIpRestrictionMutate{IPPolicyIds: []string{"ipp_office"}}
	as[*api.TCPEdgeIpRestrictionHeaders](c.ReplaceTCPEdgeIpRestriction(ctx, policies, api.ReplaceTCPEdgeIpRestrictionParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.TCPEdgeIpRestrictionHeaders](c.GetTCPEdgeIpRestriction(ctx, api.GetTCPEdgeIpRestrictionParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.Gone](c.DeleteTCPEdgeIpRestriction(ctx, api.DeleteTCPEdgeIpRestrictionParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.Gone](c.DeleteTCPEdge(ctx, api.DeleteTCPEdgeParams{ID: edge.ID, ServiceVersion: v}))
	as[*api.Gone](c.DeleteWeightedBackend(ctx, api.DeleteWeightedBackendParams{ID: pool.ID, ServiceVersion: v}))
}

func driveOthers(ctx context.Context, c *api.Client) {
	restriction := as[*api.IPRestrictionHeaders](c.CreateIPRestriction(ctx, &api.IPRestrictionCreate{Type: "dashboard", IPPolicyIds: []string{"ipp_office"}}, api.CreateIPRestrictionParams{ServiceVersion: v})).Response
	as[*api.IPRestrictionHeaders](c.UpdateIPRestriction(ctx, &api.IPRestrictionUpdate{Enforced: api.NewOptNilBool(true)}, api.UpdateIPRestrictionParams{ID: restriction.ID, ServiceVersion: v}))
	as[*api.IPRestrictionHeaders](c.GetIPRestriction(ctx, api.GetIPRestrictionParams{ID: restriction.ID, ServiceVersion: v}))
	as[*api.IPRestrictionListHeaders](c.ListIPRestrictions(ctx, api.ListIPRestrictionsParams{ServiceVersion: v}))
	as[*api.Gone](c.DeleteIPRestriction(ctx, api.DeleteIPRestrictionParams{ID: restriction.ID, ServiceVersion: v}))

	ingress := as[*api.AgentIngressHeaders](c.CreateAgentIngress(ctx, &api.AgentIngressCreate{Domain: "ingress.example.com"}, api.CreateAgentIngressParams{ServiceVersion: v})).Response
	as[*api.AgentIngressHeaders](c.UpdateAgentIngress(ctx, &api.AgentIngressUpdate{Description: api.NewOptNilString("b")}, api.UpdateAgentIngressParams{ID: ingress.ID, ServiceVersion: v}))
	as[*api.AgentIngressHeaders](c.GetAgentIngress(ctx, api.GetAgentIngressParams{ID: ingress.ID, ServiceVersion: v}))
	as[*api.AgentIngressListHeaders](c.ListAgentIngresses(ctx, api.ListAgentIngressesParams{ServiceVersion: v}))
	as[*api.Gone](c.DeleteAgentIngress(ctx, api.DeleteAgentIngressParams{ID: ingress.ID, ServiceVersion: v}))

	credential := as[*api.CredentialHeaders](c.CreateCredential(ctx, &api.CredentialCreate{ACL: api.NewOptNilStringArray([]string{"bind:*.example.com"})}, api.CreateCredentialParams{ServiceVersion: v})).Response
	expect(credential.Token.Value != "", "a token")
	as[*api.CredentialHeaders](c.UpdateCredential(ctx, &api.CredentialUpdate{Description: api.NewOptNilString("b")}, api.UpdateCredentialParams{ID: credential.ID, ServiceVersion: v}))
	again := as[*api.CredentialHeaders](c.GetCredential(ctx, api.GetCredentialParams{ID: credential.ID, ServiceVersion: v})).Response
	expect(again.Token.Value == "", "no token any more")
	as[*api.CredentialListHeaders](c.ListCredentials(ctx, api.ListCredentialsParams{ServiceVersion: v}))
	as[*api.Gone](c.DeleteCredential(ctx, api.DeleteCredentialParams{ID: credential.ID, ServiceVersion: v}))

	request := &api.SSHUserCertificateCreate{SSHCertificateAuthorityID: "sshca_team", PublicKey: publicKey, Principals: api.NewOptNilStringArray([]string{"deploy"})}
	certificate := as[*api.SSHUserCertificateHeaders](c.CreateSSHUserCertificate(ctx, request, api.CreateSSHUserCertificateParams{ServiceVersion: v})).Response
	as[*api.SSHUserCertificateHeaders](c.UpdateSSHUserCertificate(ctx, &api.SSHUserCertificateUpdate{Description: api.NewOptNilString("b")}, api.UpdateSSHUserCertificateParams{ID: certificate.ID, ServiceVersion: v}))
	as[*api.SSHUserCertificateHeaders](c.GetSSHUserCertificate(ctx, api.GetSSHUserCertificateParams{ID: certificate.ID, ServiceVersion: v}))
	as[*api.SSHUserCertificateListHeaders](c.ListSSHUserCertificates(ctx, api.ListSSHUserCertificatesParams{ServiceVersion: v}))
	as[*api.Gone](c.DeleteSSHUserCertificate(ctx, api.DeleteSSHUserCertificateParams{ID: certificate.ID, ServiceVersion: v}))

	reported := url.URL{Scheme: "https", Host: "phishing.example.com", Path: "/"}
	report := as[*api.AbuseReportHeaders](c.CreateAbuseReport(ctx, &api.AbuseReportCreate{Urls: []url.URL{reported}}, api.CreateAbuseReportParams{ServiceVersion: v})).Response
	as[*api.AbuseReportHeaders](c.GetAbuseReport(ctx, api.GetAbuseReportParams{ID: report.ID, ServiceVersion: v}))
}

func driveModules(ctx context.Context, c *api.Client) {
	const edge, route = "edghts_shop", "edghtsrt_shop"
	tls := &api.HTTPSEdgeMutualTlsMutate{CertificateAuthorityIds: []string{"ca_team"}}
	as[*api.HTTPSEdgeMutualTlsHeaders](c.ReplaceHTTPSEdgeMutualTls(ctx, tls, api.ReplaceHTTPSEdgeMutualTlsParams{ID: edge, ServiceVersion: v}))
	as[*api.HTTPSEdgeMutualTlsHeaders](c.GetHTTPSEdgeMutualTls(ctx, api.GetHTTPSEdgeMutualTlsParams{ID: edge, ServiceVersion: v}))
	as[*api.Gone](c.DeleteHTTPSEdgeMutualTls(ctx, api.DeleteHTTPSEdgeMutualTlsParams{ID: edge, ServiceVersion: v}))

	breaker := &api.HTTPSEdgeRouteCircuitBreakerMutate{NumBuckets: api.NewOptNilInt(10)}
	as[*api.HTTPSEdgeRouteCircuitBreakerHeaders](c.ReplaceHTTPSEdgeRouteCircuitBreaker(ctx, breaker, api.ReplaceHTTPSEdgeRouteCircuitBreakerParams{EdgeID: edge, ID: route, ServiceVersion: v}))
	shown := as[*api.HTTPSEdgeRouteCircuitBreakerHeaders](c.GetHTTPSEdgeRouteCircuitBreaker(ctx, api.GetHTTPSEdgeRouteCircuitBreakerParams{EdgeID: edge, ID: route, ServiceVersion: v})).Response
	expect(shown.NumBuckets == 10, "the buckets")
	as[*api.Gone](c.DeleteHTTPSEdgeRouteCircuitBreaker(ctx, api.DeleteHTTPSEdgeRouteCircuitBreakerParams{EdgeID: edge, ID: route, ServiceVersion: v}))

	headers := &api.HTTPSEdgeRouteRequestHeadersMutate{Remove: api.NewOptNilStringArray([]string{"x-debug"})}
	as[*api.HTTPSEdgeRouteRequestHeadersHeaders](c.ReplaceHTTPSEdgeRouteRequestHeaders(ctx, headers, api.ReplaceHTTPSEdgeRouteRequestHeadersParams{EdgeID: edge, ID: route, ServiceVersion: v}))
	as[*api.HTTPSEdgeRouteRequestHeadersHeaders](c.GetHTTPSEdgeRouteRequestHeaders(ctx, api.GetHTTPSEdgeRouteRequestHeadersParams{EdgeID: edge, ID: route, ServiceVersion: v}))
	as[*api.Gone](c.DeleteHTTPSEdgeRouteRequestHeaders(ctx, api.DeleteHTTPSEdgeRouteRequestHeadersParams{EdgeID: edge, ID: route, ServiceVersion: v}))

	filter := &api.HTTPSEdgeRouteUserAgentFilterMutate{Deny: api.NewOptNilStringArray([]string{"bot"})}
	as[*api.HTTPSEdgeRouteUserAgentFilterHeaders](c.ReplaceHTTPSEdgeRouteUserAgentFilter(ctx, filter, api.ReplaceHTTPSEdgeRouteUserAgentFilterParams{EdgeID: edge, ID: route, ServiceVersion: v}))
	as[*api.HTTPSEdgeRouteUserAgentFilterHeaders](c.GetHTTPSEdgeRouteUserAgentFilter(ctx, api.GetHTTPSEdgeRouteUserAgentFilterParams{EdgeID: edge, ID: route, ServiceVersion: v}))
	as[*api.Gone](c.DeleteHTTPSEdgeRouteUserAgentFilter(ctx, api.DeleteHTTPSEdgeRouteUserAgentFilterParams{EdgeID: edge, ID: route, ServiceVersion: v}))
}
