# What the public provider made against the bundled server, with other values: its configuration, its state, and the account.
cp -R "$(dirname "${BASH_SOURCE[0]}")/../../test/terraform/." .
