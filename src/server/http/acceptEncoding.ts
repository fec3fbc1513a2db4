/** Supported content codings (RFC 9110, 8.4.1), best first: on logs, brotli at quality 1 is a quarter smaller than gzip
 *  at level 1 in half the time. */
const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** The coding chosen by `Accept-Encoding` (RFC 9110, 12.5.3). Undefined when the header names no supported coding,
 *  excludes them with `q=0`, or assigns an explicit `identity` a higher weight. Malformed members are ignored. */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined) return undefined
  const weights = parseWeights(header)
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const best = CODINGS.reduce((a, b) => (weightOf(b) > weightOf(a) ? b : a))
  const weight = weightOf(best)
  // An implicit identity never wins over a supported coding.
  return weight > 0 && weight >= (weights.get('identity') ?? 0) ? best : undefined
}

function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const member of header.toLowerCase().split(',')) {
    const match = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(member)
    if (match === null) continue
    const [, name, weight = '1'] = match
    // `x-gzip` is an alias of gzip (RFC 9110, 8.4.1.3).
    weights.set(name === 'x-gzip' ? 'gzip' : name, Math.min(1, Number(weight)))
  }
  return weights
}
