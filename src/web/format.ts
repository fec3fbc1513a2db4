import { formatUnits } from 'viem'

/* Values as people read them. Pure functions, without the browser. */

const GROUPED = new Intl.NumberFormat('en-US')

/** A number with separators: `1,234,567`. */
export function formatCount(value: number | bigint | string): string {
  return GROUPED.format(typeof value === 'string' ? BigInt(value) : value)
}

/** A number with its noun: `1 log`, `1,234 logs`. */
export function formatPlural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Bytes in binary units: `12.3 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`
}

/** Wei as ether, exact and without trailing zeros: `1,234.5`. */
export function formatEther(wei: bigint): string {
  const [whole, fraction] = formatUnits(wei, 18).split('.')
  const grouped = whole === '-0' ? '-0' : formatCount(BigInt(whole))
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Wei as gwei. */
export function formatGwei(wei: bigint): string {
  return formatUnits(wei, 9)
}

/** A share in percent: `12.3 %`; `0 %` of nothing. */
export function formatShare(part: number | bigint, whole: number | bigint): string {
  return Number(whole) === 0 ? '0 %' : `${((Number(part) / Number(whole)) * 100).toFixed(1)} %`
}

/** Unix seconds as `2026-11-23 02:30:00 UTC`; as seconds when no calendar has them. */
export function formatTime(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime())) return `${seconds} s`
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** How long ago, in the largest fitting unit: `3 min ago`. */
export function formatAge(seconds: bigint, nowMs: number): string {
  const age = Math.floor(nowMs / 1000) - Number(seconds)
  if (age < 0) return 'in the future'
  const units: [string, number][] = [
    ['y', 31_557_600],
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ]
  const unit = units.find(([, size]) => age >= size)
  return unit === undefined ? `${age} s ago` : `${Math.floor(age / unit[1])} ${unit[0]} ago`
}

/** Milliseconds: `0.42 ms`, `12 ms`, `1.8 s`. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`
}

/** How far a server is behind in replication: `no lag`, `12 behind`, `3 unpublished`; `34 s behind` of one that does not know in blocks,
 *  as without contact with its source; `unknown` without either. */
export function formatLag({ role, lagBlocks, lagSeconds }: ReplicationLag): string {
  if (lagBlocks !== null && lagBlocks > 0)
    return `${formatCount(lagBlocks)} ${role === 'writer' ? 'unpublished' : 'behind'}`
  if (lagSeconds > 0) return `${formatCount(lagSeconds)} s behind`
  return lagBlocks === null ? 'unknown' : 'no lag'
}

interface ReplicationLag {
  readonly role: string
  readonly lagBlocks: number | null
  readonly lagSeconds: number
}

/** The beginning and the end of a long text: `0x1234…cdef`. */
export function cutMiddle(text: string, start = 8, end = 6): string {
  return text.length <= start + end + 1 ? text : `${text.slice(0, start)}…${text.slice(-end)}`
}

/** The number of bytes of hex data. */
export function byteLength(data: string): number {
  return Math.max(0, (data.length - 2) / 2)
}

/** Hex data in 32-byte words; the last may be shorter. */
export function splitWords(data: string): string[] {
  return data.slice(2).match(/.{1,64}/g) ?? []
}
