import { parseArgs } from 'node:util'

/** An option of a bench. */
export interface Option<T> {
  readonly default: T
  /** What it is, for the help. */
  readonly about: string
  /** Reads the text of the command line. @throws Error with the option's name */
  parse(flag: string, text: string): T
  readonly isFlag?: boolean
}

/** Options of a bench by flag, without the dashes. */
export type Options = { readonly [flag: string]: Option<unknown> }

/** Values of the options by flag. */
export type Values<O extends Options> = { readonly [F in keyof O]: O[F] extends Option<infer T> ? T : never }

/** A whole number from `least` on. */
export function count(byDefault: number, about: string, least = 1): Option<number> {
  return {
    ...{ default: byDefault, about },
    parse: (flag, text) => {
      const value = Number(text)
      if (!Number.isSafeInteger(value) || value < least) {
        throw new Error(`--${flag}: expected a number from ${least}, got ${text}`)
      }
      return value
    },
  }
}

/** Seconds, or another quantity above 0 that need not be whole. */
export function positive(byDefault: number, about: string): Option<number> {
  return {
    ...{ default: byDefault, about },
    parse: (flag, text) => {
      const value = Number(text)
      if (!Number.isFinite(value) || value <= 0) throw new Error(`--${flag}: expected a number above 0, got ${text}`)
      return value
    },
  }
}

/** A text; undefined by default. */
export function text(about: string): Option<string | undefined> {
  return { default: undefined, about, parse: (_flag, given) => given }
}

/** False, and true where it is named. */
export function flag(about: string): Option<boolean> {
  return { default: false, about, parse: () => true, isFlag: true }
}

/** Some of the known names, separated by commas; in their own order. */
export function list<T extends string>(
  known: readonly T[],
  about: string,
  byDefault: readonly T[] = [],
): Option<readonly T[]> {
  return {
    ...{ default: byDefault, about: `${about}: of ${known.join(', ')}` },
    parse: (flag, given) => {
      const names = given.split(',').filter((name) => name !== '')
      const unknown = names.filter((name) => !known.some((other) => other === name))
      if (unknown.length > 0) {
        throw new Error(`--${flag}: expected some of ${known.join(', ')}, got ${unknown.join(', ')}`)
      }
      return known.filter((name) => names.includes(name))
    },
  }
}

/** Parses the arguments. @throws Error that says what is wrong with them */
export function parseOptions<O extends Options>(args: readonly string[], options: O): Values<O> {
  const types = Object.entries(options).map(([name, { isFlag }]) => [name, { type: isFlag ? 'boolean' : 'string' }])
  const values: { [flag: string]: unknown } = parseArgs({ args: [...args], options: Object.fromEntries(types) }).values
  const parsed = Object.entries(options).map(([name, option]) => {
    const given = values[name]
    return [name, given === undefined ? option.default : option.parse(name, String(given))]
  })
  return Object.fromEntries(parsed) as Values<O>
}

/** Describes the options, one a line, indented by two spaces. */
export function describeOptions(options: Options): string {
  const lines = Object.entries(options).map(([name, { about, isFlag, default: value }]) => {
    const shown = isFlag || value === undefined || String(value) === '' ? '' : ` (${value})`
    return `  ${`--${name}${isFlag ? '' : ' X'}`.padEnd(20)} ${about}${shown}`
  })
  return lines.join('\n')
}
