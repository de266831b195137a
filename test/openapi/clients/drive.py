"""Calls every operation once, with the models that openapi-python-client makes of the document. Ends at the first answer that is no success."""

import importlib
import sys

from edge_management_service_client import AuthenticatedClient, models

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L"
API_KEY = sys.argv[2]
CLIENT = AuthenticatedClient(base_url=sys.argv[1], token=API_KEY, raise_on_unexpected_status=True)


def call(operation, *ids, model=None, **fields):
    """The parsed answer of an operation, such as `tcp_edge.create_tcp_edge`. Its body is a model of these fields."""
    module = importlib.import_module(f"edge_management_service_client.api.{operation}")
    arguments = {} if operation.startswith("meta.") else {"service_version": "2"}
    if model is not None:
        arguments["body"] = model.from_dict(fields)
        assert arguments["body"].to_dict() == fields, f"{operation} cannot express {fields}"
    answer = module.sync_detailed(*ids, client=CLIENT, **arguments)
    assert answer.status_code < 300, f"{operation}: {answer.status_code} {answer.content}"
    assert answer.status_code == 204 or answer.parsed is not None, f"{operation} has no answer"
    return answer.parsed


def drive_edges():
    backend = call("weighted_backend.create_weighted_backend", model=models.WeightedBackendCreate, backends={"bkdtg_a": 90})
    changed = call(
        "weighted_backend.update_weighted_backend", backend.id, model=models.WeightedBackendUpdate, backends={"bkdtg_a": 50}
    )
    assert changed.backends["bkdtg_a"] == 50
    assert call("weighted_backend.get_weighted_backend", backend.id).id == backend.id
    assert len(call("weighted_backend.list_weighted_backends").backends) == 1

    config = {"enforce": True, "allow": ["203.0.113.0/24"], "ip_policies": ["ipp_office"]}
    office = {"name": "office", "expressions": [], "actions": [{"type": "restrict-ips", "config": config}, {"type": "log"}]}
    others = {"name": "others", "expressions": [], "actions": [{"type": "log"}, {"type": "deny"}]}
    edge = call(
        "tcp_edge.create_tcp_edge",
        model=models.TCPEdgeCreate,
        hostports=["1.tcp.example.net:20001"],
        policy={"inbound": [office, others]},
    )
    assert edge.policy.inbound[0].actions[0].config.to_dict() == config
    assert [action.type_ for action in edge.policy.inbound[1].actions] == ["log", "deny"]
    call("tcp_edge.update_tcp_edge", edge.id, model=models.TCPEdgeUpdate, description="a")
    assert call("tcp_edge.get_tcp_edge", edge.id).description == "a"
    assert len(call("tcp_edge.list_tcp_edges").tcp_edges) == 1
    call("tcp_edge.replace_tcp_edge_backend", edge.id, model=models.TCPEdgeBackendMutate, backend_id=backend.id)
    assert call("tcp_edge.get_tcp_edge_backend", edge.id).backend.id == backend.id
    call("tcp_edge.delete_tcp_edge_backend", edge.id)
    restriction = models.TCPEdgeIpRestrictionMutate
    call("tcp_edge.replace_tcp_edge_ip_restriction", edge.id, model=restriction, ip_policy_ids=["ipp_office"])
    call("tcp_edge.get_tcp_edge_ip_restriction", edge.id)
    call("tcp_edge.delete_tcp_edge_ip_restriction", edge.id)
    call("tcp_edge.delete_tcp_edge", edge.id)
    call("weighted_backend.delete_weighted_backend", backend.id)


def drive_others():
    created = call(
        "ip_restriction.create_ip_restriction", model=models.IPRestrictionCreate, type="dashboard", ip_policy_ids=["ipp_office"]
    )
    call("ip_restriction.update_ip_restriction", created.id, model=models.IPRestrictionUpdate, enforced=True)
    assert call("ip_restriction.get_ip_restriction", created.id).enforced
    call("ip_restriction.list_ip_restrictions")
    call("ip_restriction.delete_ip_restriction", created.id)

    ingress = call("agent_ingress.create_agent_ingress", model=models.AgentIngressCreate, domain="ingress.example.com")
    policy = {"authority": "letsencrypt", "private_key_type": "ecdsa"}
    update = models.AgentIngressUpdate
    call("agent_ingress.update_agent_ingress", ingress.id, model=update, certificate_management_policy=policy)
    read = call("agent_ingress.get_agent_ingress", ingress.id)
    assert read.certificate_management_policy.private_key_type == "ecdsa"
    assert len(call("agent_ingress.list_agent_ingresses").ingresses) == 1
    call("agent_ingress.delete_agent_ingress", ingress.id)

    credential = call("tunnel_credential.create_credential", model=models.CredentialCreate, acl=["bind:*.example.com"])
    assert isinstance(credential.token, str)
    call("tunnel_credential.update_credential", credential.id, model=models.CredentialUpdate, acl=[])
    assert call("tunnel_credential.get_credential", credential.id).token is None
    call("tunnel_credential.list_credentials")
    call("tunnel_credential.delete_credential", credential.id)

    certificate = call(
        "ssh_user_certificate.create_ssh_user_certificate",
        model=models.SSHUserCertificateCreate,
        ssh_certificate_authority_id="sshca_team",
        public_key=PUBLIC_KEY,
        principals=["deploy"],
        critical_options={"source-address": "203.0.113.0/24"},
    )
    assert certificate.certificate.startswith("ssh-ed25519-cert-v01@openssh.com ")
    update = models.SSHUserCertificateUpdate
    call("ssh_user_certificate.update_ssh_user_certificate", certificate.id, model=update, description="b")
    call("ssh_user_certificate.get_ssh_user_certificate", certificate.id)
    call("ssh_user_certificate.list_ssh_user_certificates")
    call("ssh_user_certificate.delete_ssh_user_certificate", certificate.id)

    report = call("abuse_report.create_abuse_report", model=models.AbuseReportCreate, urls=["https://phishing.example.com/"])
    assert call("abuse_report.get_abuse_report", report.id).status == "PENDING"


def drive_module(tag, name, ids, model, **fields):
    call(f"{tag}.replace_{name}", *ids, model=model, **fields)
    read = call(f"{tag}.get_{name}", *ids)
    call(f"{tag}.delete_{name}", *ids)
    return read


call("meta.get_open_api")
drive_edges()
drive_others()
EDGE, ROUTE = "edghts_shop", ["edghts_shop", "edghtsrt_shop"]
AUTHORITIES = {"certificate_authority_ids": ["ca_team"]}
drive_module("https_edge", "https_edge_mutual_tls", [EDGE], models.HTTPSEdgeMutualTlsMutate, **AUTHORITIES)
BREAKER = models.HTTPSEdgeRouteCircuitBreakerMutate
SHOWN = drive_module(
    "https_edge_route", "https_edge_route_circuit_breaker", ROUTE, BREAKER, num_buckets=10, error_threshold_percentage=0.25
)
assert SHOWN.error_threshold_percentage == 0.25
HEADERS = models.HTTPSEdgeRouteRequestHeadersMutate
drive_module("https_edge_route", "https_edge_route_request_headers", ROUTE, HEADERS, add={"x-environment": "production"})
FILTER = models.HTTPSEdgeRouteUserAgentFilterMutate
drive_module("https_edge_route", "https_edge_route_user_agent_filter", ROUTE, FILTER, deny=["bot"])
