terraform {
  required_providers {
    example = { source = "example/example" }
  }
}

variable "api_key" {
  type      = string
  sensitive = true
}

provider "example" {
  api_key      = var.api_key
  api_base_url = "https://api.example.com"
}

resource "example_ip_policy" "office" {
  description = "Office"
}

resource "example_ip_restriction" "endpoints" {
  type          = "endpoints"
  description   = "Endpoints admit the office"
  enforced      = true
  ip_policy_ids = [example_ip_policy.office.id]
}

resource "example_tunnel_group_backend" "postgres" {
  labels = { service = "postgres" }
}

resource "example_reserved_domain" "web" {
  name = "web.example.com"
}

resource "example_agent_ingress" "connect" {
  for_each = toset(["eu", "us"])
  domain   = "${each.key}.connect.example.com"

  lifecycle {
    prevent_destroy = true
  }
}

resource "example_credential" "build" {
  count       = 2
  description = "Build agent ${count.index}"
  acl         = ["bind:*.build.example.com"]
  metadata    = jsonencode({ team = "data" })

  lifecycle {
    ignore_changes = [owner_id]
  }
}

module "site" {
  for_each = toset(["Berlin", "oslo"])
  source   = "./modules/agent"
  site     = each.key
}
