/** The client identity of a remote address: the IPv4 address, or the first 64 bits of an IPv6 address, since one host
 *  owns a whole /64. An IPv4-mapped address (`::ffff:1.2.3.4`) counts as IPv4. */
export function clientOfAddress(address: string | undefined): string {
  if (address === undefined) return ''
  const ipv4 = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!ipv4.includes(':')) return ipv4
  const [head, tail] = address.replace(/%.*$/, '').split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':')
    while (groups.length + last.length < 8) groups.push('0')
    groups.push(...last)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
