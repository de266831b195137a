terraform {
  required_providers {
    example = { source = "example/example" }
  }
}

variable "site" {
  type = string
}

resource "example_credential" "agent" {
  description = "Agent of ${var.site}"

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [owner_id]
  }
}
