import { formatUnits } from 'viem'

/* Formats values for people. Pure functions, without the browser. */

const GROUPED = new Intl.NumberFormat('en-US')

/** Formats a number with separators: `1,234,567`. */
export function formatCount(value: number | bigint | string): string {
  return GROUPED.format(typeof value === 'string' ? BigInt(value) : value)
}

/** Formats a number with its noun: `1 log`, `1,234 logs`. */
export function formatPlural(count: number | bigint, noun: string): string {
  return `${formatCount(count)} ${noun}${Number(count) === 1 ? '' : 's'}`
}

/** Formats bytes in binary units: `12.3 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`
}

/** Formats wei as ether, exact and without trailing zeros: `1,234.5`. */
export function formatEther(wei: bigint): string {
  return formatDecimal(formatUnits(wei, 18))
}

/** Formats a positive decimal number in text with at most six decimals, rounded down; less as `5.12e-18`. A number of
 *  more than nine digits has no decimals, one of more than twelve is `1.23e24`. */
export function formatBriefly(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  if (whole.length > 12) {
    const digits = whole.slice(1, 3).replace(/0+$/, '')
    return `${whole[0]}${digits === '' ? '' : `.${digits}`}e${whole.length - 1}`
  }
  if (whole.length > 9) return formatCount(whole)
  const shown = fraction.slice(0, 6).replace(/0+$/, '')
  if (shown === '' && whole === '0' && /[1-9]/.test(fraction)) {
    return Number(text)
      .toExponential(2)
      .replace(/\.?0*e/, 'e')
  }
  return formatDecimal(shown === '' ? whole : `${whole}.${shown}`)
}

/** Formats a decimal number in text with separators, exact: `1,234.5`. */
export function formatDecimal(text: string): string {
  const [whole, fraction] = text.split('.')
  const grouped = whole === '-0' ? '-0' : formatCount(BigInt(whole))
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Formats wei as gwei. */
export function formatGwei(wei: bigint): string {
  return formatUnits(wei, 9)
}

/** Formats a share in percent: `12.3 %`; `0 %` if `whole` is 0. */
export function formatShare(part: number | bigint, whole: number | bigint): string {
  return Number(whole) === 0 ? '0 %' : `${((Number(part) / Number(whole)) * 100).toFixed(1)} %`
}

/** Formats Unix seconds as `2026-11-23 02:30:00 UTC`; as seconds if beyond the calendar. */
export function formatTime(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime())) return `${seconds} s`
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** Formats an age in the largest fitting unit: `3 min ago`. */
export function formatAge(seconds: bigint, nowMs: number): string {
  const age = Math.floor(nowMs / 1000) - Number(seconds)
  return age < 0 ? 'in the future' : `${formatDuration(age)} ago`
}

/** Formats whole seconds in the largest fitting unit: `3 min`. */
export function formatDuration(seconds: number): string {
  const units: [string, number][] = [
    ['y', 31_557_600],
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ]
  const unit = units.find(([, size]) => seconds >= size)
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit[1])} ${unit[0]}`
}

/** Formats milliseconds: `0.42 ms`, `12 ms`, `1.8 s`. */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`
}

/** Formats the replication lag of a server: `no lag`, `12 behind`, `3 unpublished`; `34 s behind` if the lag in blocks
 *  is unknown, as without a connection to its source; `unknown` without either. */
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

/** Truncates a long text in the middle: `0x1234…cdef`. */
export function cutMiddle(text: string, start = 8, end = 6): string {
  return text.length <= start + end + 1 ? text : `${text.slice(0, start)}…${text.slice(-end)}`
}

/** Returns the number of bytes of hex data. */
export function byteLength(data: string): number {
  return Math.max(0, (data.length - 2) / 2)
}

/** Splits hex data into 32-byte words; the last may be shorter. */
export function splitWords(data: string): string[] {
  return data.slice(2).match(/.{1,64}/g) ?? []
}
