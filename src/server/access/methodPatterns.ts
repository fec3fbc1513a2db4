/** True if a method may be called: if a pattern names it, or no pattern allows anything, and none with `!` names it. `*`
 *  stands for any text. */
export function allowsMethod(patterns: readonly string[], method: string): boolean {
  let isAllowed = true
  let isNamed = false
  for (const pattern of patterns) {
    if (pattern.startsWith('!')) {
      if (matches(pattern.slice(1), method)) return false
    } else {
      isAllowed = false
      isNamed ||= matches(pattern, method)
    }
  }
  return isAllowed || isNamed
}

/** The text of a pattern between its stars must follow one another, the first one at the start, the last one at the end.
 *  Unlike a regular expression, it takes linear time for any pattern. */
function matches(pattern: string, method: string): boolean {
  const [first, ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return method === first
  if (!method.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = method.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return method.length - at >= last.length && method.endsWith(last)
}

/** Patterns of methods from a list with commas: `eth_*`, `net_version`, `!debug_*`; at least one. Undefined if one is
 *  malformed. */
export function parseMethodPatterns(text: string): string[] | undefined {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  return patterns.every((pattern) => /^!?[\w*]{1,100}$/.test(pattern)) ? patterns : undefined
}
