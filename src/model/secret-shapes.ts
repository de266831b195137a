/** Which texts look like secrets by themselves, whatever the name of their place. */

const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  // A JSON web token.
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  // The userinfo of a URL, with a password.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
  // The header of a request with a credential.
  /\b(?:Bearer|Basic) [\w+/.=~-]{16,}/i,
  // Tokens of services with a prefix of their own: GitHub, GitLab, Slack, AWS, Google, Stripe, npm.
  /\b(?:gh[opusr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|[rs]k_live_\w{16,}|npm_\w{30,})\b/,
];

export function looksLikeSecret(text: string): boolean {
  return SHAPES.some((shape) => shape.test(text));
}
