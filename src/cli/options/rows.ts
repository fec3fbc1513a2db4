import { UsageError } from '../../lib/errors.js'
import { abbreviate, parseHex } from '../../lib/hex.js'
import { didYouMean } from '../../lib/suggestion.js'
import type { Command } from './option.js'

/** A row for text with a default. */
export function text(flag: string, placeholder: string, value: string, commands: readonly Command[], doc: string) {
  return { flag, placeholder, default: value, commands, doc, parse: parseText(flag) }
}

/** A row for text without a default. */
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

/** A row for a switch that is off unless given. */
export function flag(name: string, commands: readonly Command[], doc: string) {
  return { flag: name, default: false, defaultText: 'off', commands, doc, parse: parseSwitch(name) }
}

/** A row for one of `values`, without a default. */
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

/** A row for a whole number with a default. */
export function number(flag: string, placeholder: string, value: number, commands: readonly Command[], row: NumberRow) {
  const { doc, unit } = row
  return { flag, placeholder, default: value, unit, doc, commands, parse: parseInteger(flag, row) }
}

/** A row for a whole number without a default. */
export function maybeNumber(flag: string, placeholder: string, commands: readonly Command[], row: NumberRow) {
  return {
    ...number(flag, placeholder, 0, commands, row),
    default: undefined as number | undefined,
    defaultText: row.defaultText,
  }
}

/** Any text but an empty one. The function throws UsageError. */
export function parseText(flag: string) {
  return (value: string) => {
    if (value === '') throw new UsageError(`--${flag} needs a value`)
    return value
  }
}

/** A whole number within bounds. The function throws UsageError. */
export function parseInteger(flag: string, { min, max }: { min: number; max: number }) {
  return (value: string) => {
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) {
      throw new UsageError(`--${flag}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`)
    }
    return parsed
  }
}

/** Words separated by white space, at least one. The function throws UsageError. */
export function parseWords(flag: string) {
  return (value: string): readonly string[] => {
    const words = value.split(/\s+/).filter((word) => word !== '')
    if (words.length === 0) throw new UsageError(`--${flag} needs a value`)
    return words
  }
}

/** One of `values`. The function throws UsageError, with the nearest value. */
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

/** An address of 20 bytes. The function throws UsageError. */
export function parseAddress(flag: string) {
  return (value: string): Uint8Array | undefined => {
    if (/^0x[0-9a-fA-F]{40}$/.test(value)) return parseHex(value)
    throw new UsageError(
      `--${flag}: expected an address, 0x and 40 hex digits, got ${JSON.stringify(abbreviate(value))}`,
    )
  }
}

/** on or off, in the usual spellings. The function throws UsageError. */
export function parseSwitch(flag: string) {
  return (value: string) => {
    if (['on', 'true', '1', 'yes'].includes(value)) return true
    if (['off', 'false', '0', 'no'].includes(value)) return false
    throw new UsageError(`--${flag}: expected on or off, got ${JSON.stringify(value)}`)
  }
}
