// Creates, reads, updates, lists and deletes resources of five kinds, with the client that openapi-generator makes for Go.
package main

import (
	"context"
	"os"
	"reflect"

	"drive/api"
)

const v = api.Version("2")

// done returns an answer, or ends the program.
func done[A any, R any](answer A, _ R, err error) A {
	must(err)
	return answer
}

func to[T any](value T) *T { return &value }

func main() {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Args[1]}}
	ctx := context.WithValue(context.Background(), api.ContextAccessToken, os.Args[2])
	client := api.NewAPIClient(configuration)
	driveBackends(ctx, client.WeightedBackendAPI)
	driveEdges(ctx, client.TCPEdgeAPI)
	driveRestrictions(ctx, client.IPRestrictionAPI)
	driveIngresses(ctx, client.AgentIngressAPI)
	driveCredentials(ctx, client.TunnelCredentialAPI)
}

func driveBackends(ctx context.Context, c *api.WeightedBackendAPIService) {
	body := api.WeightedBackendCreate{Backends: map[string]int32{"bkdtg_a": 90}}
	id := done(c.CreateWeightedBackend(ctx).ServiceVersion(v).WeightedBackendCreate(body).Execute()).Id
	change := api.WeightedBackendUpdate{Backends: map[string]int32{"bkdtg_a": 50}}
	done(c.UpdateWeightedBackend(ctx, id).ServiceVersion(v).WeightedBackendUpdate(change).Execute())
	read := done(c.GetWeightedBackend(ctx, id).ServiceVersion(v).Execute())
	expect(read.Backends["bkdtg_a"] == 50, "the new weight")
	expect(len(done(c.ListWeightedBackends(ctx).ServiceVersion(v).Execute()).Backends) == 1, "one backend")
	_, err := c.DeleteWeightedBackend(ctx, id).ServiceVersion(v).Execute()
	must(err)
}

func driveEdges(ctx context.Context, c *api.TCPEdgeAPIService) {
	config := map[string]any{"enforce": true, "allow": []any{"203.0.113.0/24"}}
	restrict, log, deny := api.PolicyActionMutate{Type: "restrict-ips", Config: toPointers(config)}, api.PolicyActionMutate{Type: "log"}, api.PolicyActionMutate{Type: "deny"}
	rules := []api.PolicyRuleMutate{
		{Name: *api.NewNullableString(to("office")), Actions: []api.PolicyActionMutate{restrict, log}},
		{Name: *api.NewNullableString(to("others")), Actions: []api.PolicyActionMutate{log, deny}},
	}
	policy := api.NewNullableTCPEdgePolicyMutate(&api.TCPEdgePolicyMutate{Inbound: rules})
	body := api.TCPEdgeCreate{Hostports: []string{"1.tcp.example.net:20001"}, Policy: *policy}
	id := done(c.CreateTCPEdge(ctx).ServiceVersion(v).TCPEdgeCreate(body).Execute()).Id
	change := api.TCPEdgeUpdate{Description: *api.NewNullableString(to("a"))}
	done(c.UpdateTCPEdge(ctx, id).ServiceVersion(v).TCPEdgeUpdate(change).Execute())
	read := done(c.GetTCPEdge(ctx, id).ServiceVersion(v).Execute())
	expect(read.Description == "a", "the new description")
	stored := read.Policy.Get()
	expect(stored != nil && len(stored.Inbound) == 2, "two rules")
	first, second := stored.Inbound[0].Actions, stored.Inbound[1].Actions
	expect(len(first) == 2 && len(second) == 2 && second[1].Type == "deny", "two actions of each rule")
	expect(reflect.DeepEqual(first[0].Config, toPointers(config)), "the configuration")
	expect(len(done(c.ListTCPEdges(ctx).ServiceVersion(v).Limit(1).Execute()).TcpEdges) == 1, "one edge")
	_, err := c.DeleteTCPEdge(ctx, id).ServiceVersion(v).Execute()
	must(err)
}

// toPointers returns a map in the form that the generator has for values that may be null.
func toPointers(values map[string]any) map[string]*any {
	pointers := map[string]*any{}
	for key, value := range values {
		pointers[key] = &value
	}
	return pointers
}

func driveRestrictions(ctx context.Context, c *api.IPRestrictionAPIService) {
	body := api.IPRestrictionCreate{Type: "dashboard", IpPolicyIds: []string{"ipp_office"}}
	id := done(c.CreateIPRestriction(ctx).ServiceVersion(v).IPRestrictionCreate(body).Execute()).Id
	change := api.IPRestrictionUpdate{Enforced: *api.NewNullableBool(to(true))}
	done(c.UpdateIPRestriction(ctx, id).ServiceVersion(v).IPRestrictionUpdate(change).Execute())
	expect(done(c.GetIPRestriction(ctx, id).ServiceVersion(v).Execute()).Enforced, "enforced")
	expect(len(done(c.ListIPRestrictions(ctx).ServiceVersion(v).Execute()).IpRestrictions) == 1, "one restriction")
	_, err := c.DeleteIPRestriction(ctx, id).ServiceVersion(v).Execute()
	must(err)
}

func driveIngresses(ctx context.Context, c *api.AgentIngressAPIService) {
	body := api.AgentIngressCreate{Domain: "ingress.example.com"}
	id := done(c.CreateAgentIngress(ctx).ServiceVersion(v).AgentIngressCreate(body).Execute()).Id
	policy := api.NewNullableAgentIngressCertificateManagementPolicyMutate(&api.AgentIngressCertificateManagementPolicyMutate{
		Authority:      *api.NewNullableString(to("letsencrypt")),
		PrivateKeyType: *api.NewNullableString(to("ecdsa")),
	})
	change := api.AgentIngressUpdate{CertificateManagementPolicy: *policy}
	done(c.UpdateAgentIngress(ctx, id).ServiceVersion(v).AgentIngressUpdate(change).Execute())
	managed := done(c.GetAgentIngress(ctx, id).ServiceVersion(v).Execute()).CertificateManagementPolicy.Get()
	expect(managed != nil && managed.PrivateKeyType == "ecdsa", "the type of the key")
	expect(len(done(c.ListAgentIngresses(ctx).ServiceVersion(v).Execute()).Ingresses) == 1, "one ingress")
	_, err := c.DeleteAgentIngress(ctx, id).ServiceVersion(v).Execute()
	must(err)
}

func driveCredentials(ctx context.Context, c *api.TunnelCredentialAPIService) {
	body := api.CredentialCreate{Acl: []string{"bind:*.example.com"}}
	credential := done(c.CreateCredential(ctx).ServiceVersion(v).CredentialCreate(body).Execute())
	expect(credential.Token.Get() != nil, "a token")
	change := api.CredentialUpdate{Acl: []string{}}
	done(c.UpdateCredential(ctx, credential.Id).ServiceVersion(v).CredentialUpdate(change).Execute())
	read := done(c.GetCredential(ctx, credential.Id).ServiceVersion(v).Execute())
	expect(read.Token.Get() == nil && len(read.Acl) == 0, "no token and no rule any more")
	expect(len(done(c.ListCredentials(ctx).ServiceVersion(v).Execute()).Credentials) == 1, "one credential")
	_, err := c.DeleteCredential(ctx, credential.Id).ServiceVersion(v).Execute()
	must(err)
}
