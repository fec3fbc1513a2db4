import { UsageError } from '../lib/errors.js'
import { didYouMean } from '../lib/suggestion.js'
import { type Config, listOptions, type OptionKey, optionsOf } from './config.js'
import { type Command, envName, type Option } from './options/option.js'

/** A parsed command line. */
export interface ParsedArgs {
  readonly config: Config
  /** Everything that is not an option, in order. */
  readonly operands: readonly string[]
  readonly help: boolean
}

/** Parses the arguments of a command: the command line overrides the environment, the environment the default.
 *  @throws UsageError for an unknown option of the command or an invalid value */
export function parseArgs(command: Command, args: readonly string[], env: NodeJS.ProcessEnv): ParsedArgs {
  const config: Record<string, unknown> = {}
  for (const [key, option] of listOptions()) {
    const fromEnv = option.commands.includes(command) ? env[envName(option)] : undefined
    config[key] = fromEnv === undefined || fromEnv === '' ? option.default : parseFromEnv(option, fromEnv)
  }
  const operands: string[] = []
  const given = new Set<OptionKey>()
  const take = (key: OptionKey, option: Option<unknown>, text: string) => {
    const value = option.parse(text)
    config[key] = option.repeatable && given.has(key) ? [...(config[key] as []), ...(value as [])] : value
    given.add(key)
  }
  let help = false
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg === '--') {
      operands.push(...args.slice(i + 1))
      break
    }
    if (arg === '-h' || arg === '--help') help = true
    else if (!arg.startsWith('-') || arg === '-') operands.push(arg)
    else {
      const [key, option] = requireOption(command, arg)
      const equals = arg.indexOf('=')
      if (equals >= 0) take(key, option, arg.slice(equals + 1))
      else if (option.placeholder === undefined) config[key] = true
      else {
        if (i + 1 >= args.length) throw new UsageError(`${arg} needs a value (${option.placeholder})`)
        take(key, option, args[++i])
      }
    }
  }
  return { config: config as Config, operands, help }
}

function requireOption(command: Command, arg: string): [OptionKey, Option<unknown>] {
  const name = arg.split('=')[0]
  const withName = listOptions().filter(([, option]) => `--${option.flag}` === name)
  const [named] = withName
  const own = withName.find(([, option]) => option.commands.includes(command))
  if (own) return own
  if (named) throw new UsageError(`${name} is no option of 'cairn ${command}', but of ${quote(named[1].commands)}`)
  const flags = optionsOf(command).map(({ flag }) => `--${flag}`)
  throw new UsageError(`unknown option ${name}${didYouMean(name, [...flags, '--help'])}; see 'cairn help ${command}'`)
}

function quote(commands: readonly Command[]): string {
  return commands.map((command) => `'cairn ${command}'`).join(', ')
}

function parseFromEnv(option: Option<unknown>, value: string): unknown {
  try {
    return option.parse(value)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${envName(option)}: ${error.message}`, { cause: error })
  }
}
