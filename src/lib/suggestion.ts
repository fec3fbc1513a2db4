/** The likeliest candidate for a mistyped word: the nearest by edit distance if at most a third of the longer word
 *  differs (at least one letter), else the only candidate that is a prefix of the word or has it as a prefix. Ignores
 *  case. Undefined if none fits. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase()
  let nearest: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    const most = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3))
    if (distance <= most && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY))
      nearest = { candidate, distance }
  }
  if (nearest) return nearest.candidate
  if (wanted.length < 2) return undefined
  const begun = candidates.filter((text) => text.toLowerCase().startsWith(wanted) || wanted.startsWith(text))
  return begun.length === 1 ? begun[0] : undefined
}

/** ` (did you mean X?)` to append to an unknown word in a message; empty if there is no suggestion. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const nearest = nearestWord(word, candidates)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(substituted, last[j] + 1, row[j - 1] + 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) row[j] = Math.min(row[j], before[j - 2] + 1)
    }
    before = last
    last = row
  }
  return last[b.length]
}
