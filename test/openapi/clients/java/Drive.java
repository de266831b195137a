import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** Creates, reads, updates, lists and deletes resources of five kinds, with a client that openapi-generator makes for Java. */
public class Drive {
  private static final Version V = Version.fromValue("2");

  public static void main(String[] arguments) throws Exception {
    ApiClient client = Connect.open(arguments[0], arguments[1]);
    driveBackends(new WeightedBackendApi(client));
    driveEdges(new TcpEdgeApi(client));
    driveRestrictions(new IpRestrictionApi(client));
    driveIngresses(new AgentIngressApi(client));
    driveCredentials(new TunnelCredentialApi(client));
  }

  private static void expect(boolean isTrue, String what) {
    if (!isTrue) throw new IllegalStateException("not so: " + what);
  }

  private static void driveBackends(WeightedBackendApi api) throws Exception {
    String id = api.createWeightedBackend(V, new WeightedBackendCreate().backends(Map.of("bkdtg_a", 90))).getId();
    api.updateWeightedBackend(id, V, new WeightedBackendUpdate().backends(Map.of("bkdtg_a", 50)));
    expect(api.getWeightedBackend(id, V).getBackends().get("bkdtg_a") == 50, "the new weight");
    expect(api.listWeightedBackends(V, null, null).getBackends().size() == 1, "one backend");
    api.deleteWeightedBackend(id, V);
  }

  private static void driveEdges(TcpEdgeApi api) throws Exception {
    Map<String, Object> config = Map.of("enforce", true, "allow", List.of("203.0.113.0/24"));
    PolicyActionMutate restrict = new PolicyActionMutate().type("restrict-ips").config(config);
    PolicyActionMutate log = new PolicyActionMutate().type("log");
    PolicyActionMutate deny = new PolicyActionMutate().type("deny");
    TCPEdgePolicyMutate policy = new TCPEdgePolicyMutate()
        .addInboundItem(new PolicyRuleMutate().name("office").actions(List.of(restrict, log)))
        .addInboundItem(new PolicyRuleMutate().name("others").actions(List.of(log, deny)));
    TCPEdgeCreate body = new TCPEdgeCreate().addHostportsItem("1.tcp.example.net:20001").policy(policy);
    String id = api.createTCPEdge(V, body).getId();
    api.updateTCPEdge(id, V, new TCPEdgeUpdate().description("a"));
    TCPEdge read = api.getTCPEdge(id, V);
    expect(read.getDescription().equals("a"), "the new description");
    List<List<String>> actions = read.getPolicy().getInbound().stream()
        .map(rule -> rule.getActions().stream().map(PolicyAction::getType).toList()).toList();
    expect(actions.equals(List.of(List.of("restrict-ips", "log"), List.of("log", "deny"))), "two rules of two actions");
    expect(read.getPolicy().getInbound().get(0).getActions().get(0).getConfig().equals(config), "the configuration");
    expect(api.listTCPEdges(V, 1, null).getTcpEdges().size() == 1, "one edge");
    api.deleteTCPEdge(id, V);
  }

  private static void driveRestrictions(IpRestrictionApi api) throws Exception {
    IPRestrictionCreate body =
        new IPRestrictionCreate().type(IPRestrictionCreate.TypeEnum.DASHBOARD).addIpPolicyIdsItem("ipp_office");
    String id = api.createIPRestriction(V, body).getId();
    api.updateIPRestriction(id, V, new IPRestrictionUpdate().enforced(true));
    expect(api.getIPRestriction(id, V).getEnforced(), "enforced");
    expect(api.listIPRestrictions(V, null, null).getIpRestrictions().size() == 1, "one restriction");
    api.deleteIPRestriction(id, V);
  }

  private static void driveIngresses(AgentIngressApi api) throws Exception {
    String id = api.createAgentIngress(V, new AgentIngressCreate().domain("ingress.example.com")).getId();
    AgentIngressCertificateManagementPolicyMutate policy = new AgentIngressCertificateManagementPolicyMutate()
        .authority(AgentIngressCertificateManagementPolicyMutate.AuthorityEnum.LETSENCRYPT)
        .privateKeyType(AgentIngressCertificateManagementPolicyMutate.PrivateKeyTypeEnum.ECDSA);
    api.updateAgentIngress(id, V, new AgentIngressUpdate().certificateManagementPolicy(policy));
    String type = api.getAgentIngress(id, V).getCertificateManagementPolicy().getPrivateKeyType().toString();
    expect(type.equals("ecdsa"), "the type of the key");
    expect(api.listAgentIngresses(V, null, null).getIngresses().size() == 1, "one ingress");
    api.deleteAgentIngress(id, V);
  }

  private static void driveCredentials(TunnelCredentialApi api) throws Exception {
    Credential credential = api.createCredential(V, new CredentialCreate().addAclItem("bind:*.example.com"));
    expect(credential.getToken() != null, "a token");
    String id = credential.getId();
    api.updateCredential(id, V, new CredentialUpdate().acl(List.of()));
    Credential read = api.getCredential(id, V);
    expect(read.getToken() == null && read.getAcl().isEmpty(), "no token and no rule any more");
    expect(api.listCredentials(V, null, null).getCredentials().size() == 1, "one credential");
    api.deleteCredential(id, V);
  }
}
