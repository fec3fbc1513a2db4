import { UsageError } from '../../lib/errors.js'
import { abbreviate, parseHex } from '../../lib/hex.js'
import { didYouMean } from '../../lib/suggestion.js'
import type { Command } from './option.js'

/** Creates a row for text with a default. */
export function text(flag: string, placeholder: string, value: string, commands: readonly Command[], doc: string) {
  return { flag, placeholder, default: value, commands, doc, parse: parseText(flag) }
}

/** Creates a row for text without a default. */
export function maybeText(
  flag: string,
  placeholder: string,
  commands: readonly Command[],
  doc: string,
  defaultText: string,
) {
  return {
    flag,
    placeholder,
    default: undefined as string | undefined,
    defaultText,
    commands,
    doc,
    parse: parseText(flag),
  }
}

/** Creates a row for a switch that is off by default. */
export function flag(name: string, commands: readonly Command[], doc: string) {
  return { flag: name, default: false, defaultText: 'off', commands, doc, parse: parseSwitch(name) }
}

/** Creates a row for one of `values`, without a default. */
export function choice<T extends string>(
  flag: string,
  values: readonly T[],
  commands: readonly Command[],
  doc: string,
  defaultText = 'none',
) {
  const placeholder = values.join('|')
  return {
    flag,
    placeholder,
    default: undefined as T | undefined,
    defaultText,
    commands,
    doc,
    parse: oneOf(flag, values),
  }
}

interface NumberRow {
  min: number
  max: number
  doc: string
  unit?: string
  defaultText?: string
}

/** Creates a row for an integer with a default. */
export function number(flag: string, placeholder: string, value: number, commands: readonly Command[], row: NumberRow) {
  const { doc, unit } = row
  return { flag, placeholder, default: value, unit, doc, commands, isInteger: true, parse: parseInteger(flag, row) }
}

/** Creates a row for an integer without a default. */
export function maybeNumber(flag: string, placeholder: string, commands: readonly Command[], row: NumberRow) {
  return {
    ...number(flag, placeholder, 0, commands, row),
    default: undefined as number | undefined,
    defaultText: row.defaultText,
  }
}

/** Returns a parser of non-empty text. The parser throws UsageError. */
export function parseText(flag: string) {
  return (value: string) => {
    if (value === '') throw new UsageError(`--${flag} needs a value`)
    return value
  }
}

/** Returns a parser of an integer within bounds. The parser throws UsageError. */
export function parseInteger(flag: string, { min, max }: { min: number; max: number }) {
  return (value: string) => {
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) {
      throw new UsageError(`--${flag}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`)
    }
    return parsed
  }
}

/** Returns a parser of one or more words separated by white space. The parser throws UsageError. */
export function parseWords(flag: string) {
  return (value: string): readonly string[] => {
    const words = value.split(/\s+/).filter((word) => word !== '')
    if (words.length === 0) throw new UsageError(`--${flag} needs a value`)
    return words
  }
}

/** Returns a parser of one of `values`. The parser throws UsageError that names the nearest value. */
export function oneOf<const T extends string>(flag: string, values: readonly T[]) {
  return (value: string): T => {
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) {
      const expected = `expected ${values.join(', ')}, got ${JSON.stringify(value)}`
      throw new UsageError(`--${flag}: ${expected}${didYouMean(value, values)}`)
    }
    return found
  }
}

/** Returns a parser of a 20-byte address. The parser throws UsageError. */
export function parseAddress(flag: string) {
  return (value: string): Uint8Array | undefined => {
    if (/^0x[0-9a-fA-F]{40}$/.test(value)) return parseHex(value)
    throw new UsageError(
      `--${flag}: expected an address, 0x and 40 hex digits, got ${JSON.stringify(abbreviate(value))}`,
    )
  }
}

/** Returns a parser of a 32-byte hash. The parser throws UsageError. */
export function parseHash(flag: string) {
  return (value: string): Uint8Array | undefined => {
    if (/^0x[0-9a-fA-F]{64}$/.test(value)) return parseHex(value)
    throw new UsageError(`--${flag}: expected a hash, 0x and 64 hex digits, got ${JSON.stringify(abbreviate(value))}`)
  }
}

/** Returns a parser of on or off, in the usual spellings. The parser throws UsageError. */
export function parseSwitch(flag: string) {
  return (value: string) => {
    if (['on', 'true', '1', 'yes'].includes(value)) return true
    if (['off', 'false', '0', 'no'].includes(value)) return false
    throw new UsageError(`--${flag}: expected on or off, got ${JSON.stringify(value)}`)
  }
}
