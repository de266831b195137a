# The reader's machine: a home, and a name for commits. Marks contain the times of commits, so these are fixed.
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com
export GIT_AUTHOR_DATE='2026-03-01T12:00:00Z' GIT_COMMITTER_DATE='2026-03-01T12:00:00Z'
# Ids of the account, which the page shows as they are: edgtcp_2k9XLR3nGNPfyoIk0A3yD8vPq7M edgtcp_2k9XLSSJ0VYBkAfVwYyJYvXz5wC bkdwd_2k9XLRB5nmx6wKn1qWqHy0YhAaT
