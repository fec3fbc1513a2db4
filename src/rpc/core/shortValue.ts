/** True if the text in a JSON value, at least one character per member, has at most `limit` characters. */
export function isShort(value: unknown, limit: number): boolean {
  const open = [value]
  let left = limit
  while (open.length > 0) {
    const next = open.pop()
    left -= typeof next === 'string' ? next.length + 1 : 1
    if (typeof next === 'object' && next !== null) {
      const members = Object.values(next)
      if (members.length > left) return false
      for (const member of members) open.push(member)
    }
    if (left < 0) return false
  }
  return true
}
