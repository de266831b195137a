//! Creates, reads, updates, lists and deletes resources of five kinds, with the client that openapi-generator makes for Rust.

use openapi::apis::{agent_ingress_api, configuration::Configuration, ip_restriction_api, tcp_edge_api, tunnel_credential_api, weighted_backend_api};
use openapi::models::{self, agent_ingress_certificate_management_policy_mutate as certificates, ip_restriction_create};
use serde_json::json;
use std::collections::HashMap;
use std::error::Error;

const V: models::Version = models::Version::Variant2;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut client = Configuration::new();
    client.base_path = arguments[1].clone();
    client.bearer_access_token = Some(arguments[2].clone());
    drive_backends(&client).await?;
    drive_edges(&client).await?;
    drive_restrictions(&client).await?;
    drive_ingresses(&client).await?;
    drive_credentials(&client).await
}

fn weights(weight: i32) -> Option<Option<HashMap<String, i32>>> {
    Some(Some(HashMap::from([("bkdtg_a".to_string(), weight)])))
}

async fn drive_backends(client: &Configuration) -> Result<(), Box<dyn Error>> {
    use weighted_backend_api::*;
    let body = models::WeightedBackendCreate { backends: weights(90), ..Default::default() };
    let id = create_weighted_backend(client, V, body).await?.id;
    let change = models::WeightedBackendUpdate { backends: weights(50), ..Default::default() };
    update_weighted_backend(client, &id, V, change).await?;
    assert_eq!(get_weighted_backend(client, &id, V).await?.backends["bkdtg_a"], 50);
    assert_eq!(list_weighted_backends(client, V, None, None).await?.backends.len(), 1);
    Ok(delete_weighted_backend(client, &id, V).await?)
}

fn action(name: &str) -> models::PolicyActionMutate {
    models::PolicyActionMutate::new(name.to_string())
}

fn rule(name: &str, actions: Vec<models::PolicyActionMutate>) -> models::PolicyRuleMutate {
    models::PolicyRuleMutate { name: Some(Some(name.to_string())), actions: Some(Some(actions)), ..Default::default() }
}

async fn drive_edges(client: &Configuration) -> Result<(), Box<dyn Error>> {
    use tcp_edge_api::*;
    let config = HashMap::from([("allow".to_string(), json!(["203.0.113.0/24"])), ("enforce".to_string(), json!(true))]);
    let restrict = models::PolicyActionMutate { config: Some(Some(config.clone())), ..action("restrict-ips") };
    let rules = vec![rule("office", vec![restrict, action("log")]), rule("others", vec![action("log"), action("deny")])];
    let body = models::TcpEdgeCreate {
        hostports: Some(Some(vec!["1.tcp.example.net:20001".to_string()])),
        policy: Some(Some(models::TcpEdgePolicyMutate { inbound: Some(Some(rules)), ..Default::default() })),
        ..Default::default()
    };
    let id = create_tcp_edge(client, V, body).await?.id;
    let change = models::TcpEdgeUpdate { description: Some(Some("a".to_string())), ..Default::default() };
    update_tcp_edge(client, &id, V, change).await?;
    let read = get_tcp_edge(client, &id, V).await?;
    assert_eq!(read.description, "a");
    let inbound = read.policy.ok_or("no policy")?.inbound;
    let actions: Vec<Vec<&str>> = inbound.iter().map(|rule| rule.actions.iter().map(|one| one.r#type.as_str()).collect()).collect();
    assert_eq!(actions, [["restrict-ips", "log"], ["log", "deny"]]);
    assert_eq!(inbound[0].actions[0].config, Some(config));
    assert_eq!(list_tcp_edges(client, V, Some(1), None).await?.tcp_edges.len(), 1);
    Ok(delete_tcp_edge(client, &id, V).await?)
}

async fn drive_restrictions(client: &Configuration) -> Result<(), Box<dyn Error>> {
    use ip_restriction_api::*;
    let body = models::IpRestrictionCreate::new(ip_restriction_create::Type::Dashboard, vec!["ipp_office".to_string()]);
    let id = create_ip_restriction(client, V, body).await?.id;
    let change = models::IpRestrictionUpdate { enforced: Some(Some(true)), ..Default::default() };
    update_ip_restriction(client, &id, V, change).await?;
    assert!(get_ip_restriction(client, &id, V).await?.enforced);
    assert_eq!(list_ip_restrictions(client, V, None, None).await?.ip_restrictions.len(), 1);
    Ok(delete_ip_restriction(client, &id, V).await?)
}

async fn drive_ingresses(client: &Configuration) -> Result<(), Box<dyn Error>> {
    use agent_ingress_api::*;
    let body = models::AgentIngressCreate::new("ingress.example.com".to_string());
    let id = create_agent_ingress(client, V, body).await?.id;
    let policy = models::AgentIngressCertificateManagementPolicyMutate {
        authority: Some(Some(certificates::Authority::Letsencrypt)),
        private_key_type: Some(Some(certificates::PrivateKeyType::Ecdsa)),
    };
    let change = models::AgentIngressUpdate { certificate_management_policy: Some(Some(Box::new(policy))), ..Default::default() };
    update_agent_ingress(client, &id, V, change).await?;
    let read = get_agent_ingress(client, &id, V).await?.certificate_management_policy.ok_or("no policy")?;
    assert_eq!(serde_json::to_value(read.private_key_type)?, "ecdsa");
    assert_eq!(list_agent_ingresses(client, V, None, None).await?.ingresses.len(), 1);
    Ok(delete_agent_ingress(client, &id, V).await?)
}

async fn drive_credentials(client: &Configuration) -> Result<(), Box<dyn Error>> {
    use tunnel_credential_api::*;
    let body = models::CredentialCreate { acl: Some(Some(vec!["bind:*.example.com".to_string()])), ..Default::default() };
    let created = create_credential(client, V, body).await?;
    assert!(created.token.is_some());
    let change = models::CredentialUpdate { acl: Some(Some(vec![])), ..Default::default() };
    update_credential(client, &created.id, V, change).await?;
    let read = get_credential(client, &created.id, V).await?;
    assert!(read.token.is_none() && read.acl.is_empty());
    assert_eq!(list_credentials(client, V, None, None).await?.credentials.len(), 1);
    Ok(delete_credential(client, &created.id, V).await?)
}
