//! Creates, reads, updates, lists and deletes resources of five kinds, with the client that progenitor makes for Rust.

use reqwest::header::{HeaderMap, AUTHORIZATION};
use serde_json::{json, Map};
use std::collections::HashMap;
use std::error::Error;

mod api {
    progenitor::generate_api!(spec = "openapi-3.0.json", interface = Builder);
}
use api::{types, Client};

const V: types::Version = types::Version::X2;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let headers = HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {}", arguments[2]).parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = Client::new_with_client(&arguments[1], http);
    drive_backends(&client).await?;
    drive_edges(&client).await?;
    drive_restrictions(&client).await?;
    drive_ingresses(&client).await?;
    drive_credentials(&client).await
}

fn weights(weight: i64) -> HashMap<String, i64> {
    HashMap::from([("bkdtg_a".to_string(), weight)])
}

async fn drive_backends(client: &Client) -> Result<(), Box<dyn Error>> {
    let id: &str = &client.create_weighted_backend().service_version(V).body_map(|body| body.backends(weights(90))).send().await?.into_inner().id;
    client.update_weighted_backend().id(id).service_version(V).body_map(|body| body.backends(weights(50))).send().await?;
    assert_eq!(client.get_weighted_backend().id(id).service_version(V).send().await?.backends["bkdtg_a"], 50);
    assert_eq!(client.list_weighted_backends().service_version(V).send().await?.backends.len(), 1);
    client.delete_weighted_backend().id(id).service_version(V).send().await?;
    Ok(())
}

fn rule(name: &str, actions: Vec<types::PolicyActionMutate>) -> Result<types::PolicyRuleMutate, Box<dyn Error>> {
    Ok(types::PolicyRuleMutate::builder().name(Some(name.parse()?)).actions(actions).try_into()?)
}

fn action(name: &str) -> Result<types::PolicyActionMutate, Box<dyn Error>> {
    Ok(types::PolicyActionMutate::builder().type_(name).try_into()?)
}

async fn drive_edges(client: &Client) -> Result<(), Box<dyn Error>> {
    let config = Map::from_iter([("allow".to_string(), json!(["203.0.113.0/24"])), ("enforce".to_string(), json!(true))]);
    let restrict = types::PolicyActionMutate { config: Some(config.clone()), ..action("restrict-ips")? };
    let rules = vec![rule("office", vec![restrict, action("log")?])?, rule("others", vec![action("log")?, action("deny")?])?];
    let policy: types::TcpEdgePolicyMutate = types::TcpEdgePolicyMutate::builder().inbound(rules).extra(Map::new()).try_into()?;
    let hostports = vec!["1.tcp.example.net:20001".parse()?];
    let id: &str = &client.create_tcp_edge().service_version(V).body_map(|body| body.hostports(hostports).policy(policy)).send().await?.into_inner().id;
    client.update_tcp_edge().id(id).service_version(V).body_map(|body| body.description(Some("a".parse().unwrap()))).send().await?;
    let read = client.get_tcp_edge().id(id).service_version(V).send().await?.into_inner();
    assert_eq!(read.description, "a");
    let inbound = read.policy.ok_or("no policy")?.inbound;
    let actions: Vec<Vec<&str>> = inbound.iter().map(|rule| rule.actions.iter().map(|one| one.type_.as_str()).collect()).collect();
    assert_eq!(actions, [["restrict-ips", "log"], ["log", "deny"]]);
    assert_eq!(inbound[0].actions[0].config, Some(config));
    assert_eq!(client.list_tcp_edges().limit(1).service_version(V).send().await?.tcp_edges.len(), 1);
    client.delete_tcp_edge().id(id).service_version(V).send().await?;
    Ok(())
}

async fn drive_restrictions(client: &Client) -> Result<(), Box<dyn Error>> {
    let policies = vec!["ipp_office".parse()?];
    let body = types::IpRestrictionCreate::builder().type_(types::IpRestrictionCreateType::Dashboard).ip_policy_ids(policies);
    let id: &str = &client.create_ip_restriction().service_version(V).body(body).send().await?.into_inner().id;
    client.update_ip_restriction().id(id).service_version(V).body_map(|body| body.enforced(true)).send().await?;
    assert!(client.get_ip_restriction().id(id).service_version(V).send().await?.enforced);
    assert_eq!(client.list_ip_restrictions().service_version(V).send().await?.ip_restrictions.len(), 1);
    client.delete_ip_restriction().id(id).service_version(V).send().await?;
    Ok(())
}

async fn drive_ingresses(client: &Client) -> Result<(), Box<dyn Error>> {
    use types::{AgentIngressCertificateManagementPolicyMutate as Certificates, AgentIngressCertificateManagementPolicyMutatePrivateKeyType as KeyType};
    let id: &str = &client.create_agent_ingress().service_version(V).body_map(|body| body.domain("ingress.example.com")).send().await?.into_inner().id;
    let policy: Certificates = Certificates::builder().private_key_type(KeyType::Ecdsa).try_into()?;
    client.update_agent_ingress().id(id).service_version(V).body_map(|body| body.certificate_management_policy(policy)).send().await?;
    let read = client.get_agent_ingress().id(id).service_version(V).send().await?.into_inner();
    let policy = read.certificate_management_policy.ok_or("no policy")?;
    assert_eq!(policy.private_key_type.to_string(), "ecdsa");
    assert_eq!(client.list_agent_ingresses().service_version(V).send().await?.ingresses.len(), 1);
    client.delete_agent_ingress().id(id).service_version(V).send().await?;
    Ok(())
}

async fn drive_credentials(client: &Client) -> Result<(), Box<dyn Error>> {
    let acl = vec!["bind:*.example.com".parse()?];
    let created = client.create_credential().service_version(V).body_map(|body| body.acl(acl)).send().await?;
    assert!(created.token.is_some());
    let id = created.id.as_str();
    client.update_credential().id(id).service_version(V).body_map(|body| body.acl(vec![])).send().await?;
    let read = client.get_credential().id(id).service_version(V).send().await?;
    assert!(read.token.is_none() && read.acl.is_empty());
    assert_eq!(client.list_credentials().service_version(V).send().await?.credentials.len(), 1);
    client.delete_credential().id(id).service_version(V).send().await?;
    Ok(())
}
