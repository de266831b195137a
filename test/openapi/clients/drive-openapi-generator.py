"""Creates, reads, updates, lists and deletes resources of five kinds, with the client that openapi-generator makes for Python."""

import sys

import openapi_client as client

VERSION = client.Version.ENUM_2
configuration = client.Configuration(host=sys.argv[1], access_token=sys.argv[2])


def drive(api, name, names, create, update):
    """Returns the resource after its creation and after its update."""
    created = getattr(api, f"create_{name}")(VERSION, create)
    getattr(api, f"update_{name}")(created.id, VERSION, update)
    read = getattr(api, f"get_{name}")(created.id, VERSION)
    listed = getattr(api, f"list_{names}")(VERSION, limit=10)
    assert created.id in str(listed.to_dict())
    getattr(api, f"delete_{name}")(created.id, VERSION)
    return created, read


with client.ApiClient(configuration) as connection:
    _, backend = drive(
        client.WeightedBackendApi(connection),
        "weighted_backend",
        "weighted_backends",
        client.WeightedBackendCreate(backends={"bkdtg_a": 90}),
        client.WeightedBackendUpdate(backends={"bkdtg_a": 50}),
    )
    assert backend.backends == {"bkdtg_a": 50}

    config = {"allow": ["203.0.113.0/24"], "enforce": True, "ip_policies": ["ipp_office"]}
    restrict = client.PolicyActionMutate(type="restrict-ips", config=config)
    log, deny = client.PolicyActionMutate(type="log"), client.PolicyActionMutate(type="deny")
    inbound = [
        client.PolicyRuleMutate(name="office", actions=[restrict, log]),
        client.PolicyRuleMutate(name="others", actions=[log, deny]),
    ]
    _, edge = drive(
        client.TCPEdgeApi(connection),
        "tcp_edge",
        "tcp_edges",
        client.TCPEdgeCreate(hostports=["1.tcp.example.net:20001"], policy=client.TCPEdgePolicyMutate(inbound=inbound)),
        client.TCPEdgeUpdate(description="a"),
    )
    assert edge.description == "a"
    actions = [[action.type for action in rule.actions] for rule in edge.policy.inbound]
    assert actions == [["restrict-ips", "log"], ["log", "deny"]]
    assert edge.policy.inbound[0].actions[0].config == config

    _, restriction = drive(
        client.IPRestrictionApi(connection),
        "ip_restriction",
        "ip_restrictions",
        client.IPRestrictionCreate(type="dashboard", ip_policy_ids=["ipp_office"]),
        client.IPRestrictionUpdate(enforced=True),
    )
    assert restriction.enforced

    policy = client.AgentIngressCertificateManagementPolicyMutate(authority="letsencrypt", private_key_type="ecdsa")
    _, ingress = drive(
        client.AgentIngressApi(connection),
        "agent_ingress",
        "agent_ingresses",
        client.AgentIngressCreate(domain="ingress.example.com"),
        client.AgentIngressUpdate(certificate_management_policy=policy),
    )
    assert ingress.certificate_management_policy.private_key_type == "ecdsa"

    created, credential = drive(
        client.TunnelCredentialApi(connection),
        "credential",
        "credentials",
        client.CredentialCreate(acl=["bind:*.example.com"]),
        client.CredentialUpdate(acl=[]),
    )
    assert created.token and credential.token is None and credential.acl == []
