import { existsSync, readFileSync, statSync } from 'node:fs'
import { messageOf, UsageError } from '../../lib/errors.js'
import { didYouMean } from '../../lib/suggestion.js'
import { listOptions, optionsOf } from '../config.js'
import { CONFIG_FILE, NO_CONFIG } from '../options/database.js'
import { COMMANDS, type Command, envName, type Option } from '../options/option.js'
import { type ConfigDocument, configError, parseDocument } from './document.js'

const MAX_BYTES = 65_536

/** A configuration file as the environment that has the same effect. */
export interface ConfigFile {
  readonly path: string
  /** Environment variables of the options that the file sets for the command. */
  readonly env: { readonly [name: string]: string }
}

/** Reads the configuration file of a command; undefined without one.
 *  @param path the value of --config; undefined: cairn.toml in the working directory, if it is there
 *  @throws UsageError, with file and line and without values, for what is wrong in any section */
export function readConfigFile(command: Command, path: string | undefined): ConfigFile | undefined {
  if (path === NO_CONFIG) return undefined
  const chosen = path ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined)
  return chosen === undefined ? undefined : { path: chosen, env: parseConfig(command, chosen, readText(chosen)) }
}

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes, got ${size}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--config ${path}: ${messageOf(error)}`, { cause: error })
  }
}

/** Returns the environment variables that the text of a configuration file sets for a command: its section overrides
 *  the names at the top. All sections are checked.
 *  @throws UsageError as `readConfigFile` */
export function parseConfig(command: Command, path: string, text: string): ConfigFile['env'] {
  const document = parseDocument(path, text)
  const reader = new SettingsReader(path, document)
  const top: { [name: string]: string } = {}
  let section: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(document.value)) {
    if (isTable(value)) {
      const own = reader.readSection(name, value)
      if (name === command) section = own
    } else reader.readTop(name, value, command, top)
  }
  return { ...top, ...section }
}

/** Reads and checks the settings of one file. */
class SettingsReader {
  readonly #path: string
  readonly #document: ConfigDocument

  constructor(path: string, document: ConfigDocument) {
    this.#path = path
    this.#document = document
  }

  readSection(name: string, table: object): { [variable: string]: string } {
    const command = COMMANDS.find((each) => each === name)
    if (command === undefined) {
      throw this.#error(
        [name],
        `unknown section [${name}]${didYouMean(name, COMMANDS)}; sections are named like commands`,
      )
    }
    const options = settableOptions(command)
    const env: { [variable: string]: string } = {}
    for (const [key, value] of Object.entries(table)) {
      const option = options.find(({ flag }) => flag === key)
      if (option === undefined) throw this.#unknown([name, key], command)
      env[envName(option)] = this.#read([name, key], value, option)
    }
    return env
  }

  /** Reads a name at the top. Several commands may have an option of the name, in different tables: one must accept it,
   *  and that of the command, where it has one. */
  readTop(name: string, value: unknown, command: Command, env: { [variable: string]: string }): void {
    const named = settableOptions().filter(({ flag }) => flag === name)
    if (named.length === 0) throw this.#unknown([name], undefined)
    const own = named.find(({ commands }) => commands.includes(command))
    if (own !== undefined) {
      env[envName(own)] = this.#read([name], value, own)
      return
    }
    const errors: unknown[] = []
    for (const option of named) {
      try {
        this.#read([name], value, option)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === named.length) throw errors[0]
  }

  /** Returns a value as the text of the environment variable. @throws UsageError */
  #read(path: readonly string[], value: unknown, option: Option<unknown>): string {
    const text = toText(value, option)
    if (text === undefined) {
      throw this.#error(path, `${option.flag}: expected ${expectedType(option)}, got ${typeName(value)}`)
    }
    try {
      option.parse(text)
      return text
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      throw this.#error(path, error.message.replace(/^--/, ''))
    }
  }

  #unknown(path: readonly string[], command: Command | undefined): UsageError {
    const name = path.at(-1)!
    const elsewhere = settableOptions().find(({ flag }) => flag === name)
    if (elsewhere !== undefined) {
      const commands = elsewhere.commands.map((each) => `'cairn ${each}'`).join(', ')
      return this.#error(path, `${name} is no option of 'cairn ${command}', but of ${commands}`)
    }
    const flags = settableOptions(command).map(({ flag }) => flag)
    const names = command === undefined ? [...flags, ...COMMANDS] : flags
    const help = command === undefined ? "'cairn help COMMAND'" : `'cairn help ${command}'`
    return this.#error(path, `unknown option ${name}${didYouMean(name, names)}; see ${help}`)
  }

  #error(path: readonly string[], problem: string): UsageError {
    return configError(this.#path, this.#document.lineOf(path), problem)
  }
}

/** Returns all options but --config itself, or those of a command. */
function settableOptions(command?: Command): Option<unknown>[] {
  const options = command === undefined ? listOptions().map(([, option]) => option) : optionsOf(command)
  return options.filter(({ flag }) => flag !== 'config')
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Returns the text of a value as an environment variable has it; undefined for a value of a wrong type. */
function toText(value: unknown, option: Option<unknown>): string | undefined {
  if (isSwitch(option)) return typeof value === 'boolean' ? (value ? 'on' : 'off') : undefined
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && acceptsNumber(option) ? String(value) : undefined
  }
  if (option.isInteger) return undefined
  if (typeof value === 'string') return value
  if (option.repeatable && Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '')) {
    return value.join('\n')
  }
  return undefined
}

function isSwitch({ placeholder }: Option<unknown>): boolean {
  return placeholder === undefined || placeholder === 'on|off'
}

/** True for integers, and for texts that may be a number, such as --from. */
function acceptsNumber({ isInteger = false, placeholder = '' }: Option<unknown>): boolean {
  return isInteger || /\bNUMBER\b/.test(placeholder)
}

function expectedType(option: Option<unknown>): string {
  if (isSwitch(option)) return 'true or false'
  if (option.isInteger) return 'a whole number'
  const text = acceptsNumber(option) ? 'a string or a whole number' : 'a string'
  return option.repeatable ? `${text} or an array of strings` : text
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Date) return 'a date'
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number'
  return typeof value === 'boolean' ? 'true or false' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
