# The configuration, the state and the account of the public provider, used with the bundled server and with other values.
cp -R "$(dirname "${BASH_SOURCE[0]}")/../../test/terraform/." .
