/** The client that a remote address stands for: an IPv4 address itself, of IPv6 the first 64 bits, since one host has all
 *  addresses of its network. IPv4 in IPv6 form (`::ffff:1.2.3.4`) is the IPv4 address. */
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
