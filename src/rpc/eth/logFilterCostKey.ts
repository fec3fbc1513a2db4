/** Longest part of a value in a key: that of a 32-byte topic. */
const MAX_CHARACTERS = 66

/** Groups undecoded filter objects whose queries take about the same time: by the first and last value and the length
 *  of each list, and by the magnitude of the block range. Takes microseconds for lists of any length; different filters
 *  may share a key. At most about 1 kB. */
export function logFilterCostKey(object: unknown): string {
  if (typeof object !== 'object' || object === null) return ''
  const { address, topics, fromBlock, toBlock, blockHash } = object as { [field: string]: unknown }
  const clauses = [address, ...(Array.isArray(topics) ? topics.slice(0, 4) : [])]
  const range = blockHash === undefined ? describeRange(fromBlock, toBlock) : 'hash'
  return `${range} ${clauses.map(describeClause).join(' ')}`
}

function describeRange(from: unknown, to: unknown): string {
  const blocks = typeof from === 'string' && typeof to === 'string' ? Number(to) - Number(from) : Number.NaN
  return blocks >= 0 ? String(Math.ceil(Math.log2(blocks + 1))) : `${describeValue(from)}-${describeValue(to)}`
}

function describeClause(values: unknown): string {
  if (!Array.isArray(values)) return describeValue(values)
  return `${values.length}:${describeValue(values[0])}:${describeValue(values.at(-1))}`
}

function describeValue(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : ''
}
