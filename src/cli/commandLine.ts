import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, UsageError } from '../lib/errors.js'
import { didYouMean } from '../lib/suggestion.js'
import { isWrongDatabase } from '../store/open.js'
import { explainFailure } from './explainFailure.js'
import { formatCommandHelp, formatHelp } from './helpText.js'
import { CONFIG_FILE, WITHOUT_FILE } from './options/database.js'
import { COMMANDS, type Command } from './options/option.js'
import { outputOptions, readLogging } from './options/output.js'
import { type ParsedArgs, parseArgs } from './parseArgs.js'
import { printResult, surviveOutputFailures } from './standardStreams.js'
import { isSupportedNode, OLDEST_NODE } from './supportedNode.js'
import { writeNotice } from './terminal.js'

/** Runs a command with its parsed arguments. Returns the exit code. */
export type Run = (args: ParsedArgs) => Promise<number>

/** Loads what runs a command. */
export type LoadRun = (command: Exclude<Command, 'help'>) => Promise<Run>

/** Runs the command of a command line, the words after `cairn`. Returns the exit code: 2 for a usage error, 1 for a
 *  failure; it prints one line about either. */
export async function runCommandLine(argv: readonly string[], load: LoadRun): Promise<number> {
  surviveOutputFailures()
  return await main(argv, load).catch(fail)
}

async function main(argv: readonly string[], load: LoadRun): Promise<number> {
  const [name, ...rest] = argv
  if (name === undefined) {
    process.stderr.write(`${formatHelp()}\n`)
    return 2
  }
  if (name === '--help' || name === '-h') return print(formatHelp())
  const command = ['--version', '-V', '-v'].includes(name) ? 'version' : requireCommand(name)
  if (command === 'help')
    return print(rest[0] === undefined ? formatHelp() : formatCommandHelp(requireCommand(rest[0])))
  const args = parseArgs(command, rest, process.env)
  if (args.help) return print(formatCommandHelp(command))
  if (!WITHOUT_FILE.includes(command) && command !== 'doctor') requireSupportedNode()
  const parsed = WITHOUT_FILE.includes(command) ? args : await addConfigFile(command, rest, args)
  const run = await load(command)
  try {
    return await run(parsed)
  } catch (error) {
    throw explainFailure(error, parsed.config.datadir)
  }
}

/** @throws UsageError on a Node that is too old. */
function requireSupportedNode(): void {
  const { node } = process.versions
  if (isSupportedNode(node)) return
  throw new UsageError(
    `Cairn needs Node ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or later; this is ${node}. Install a newer Node, or run it with 'npx node@24'`,
  )
}

/** Parses the command line again with the configuration file, where one is used, and logs its name. */
async function addConfigFile(command: Command, rest: readonly string[], args: ParsedArgs): Promise<ParsedArgs> {
  const { config } = args.config
  if (config === undefined && !existsSync(CONFIG_FILE)) return args
  const { readConfigFile } = await import('./configFile/configFile.js')
  const file = readConfigFile(command, config)
  if (file === undefined) return args
  const env = Object.entries(process.env).filter(([, value]) => value !== '')
  const parsed = parseArgs(command, rest, { ...file.env, ...Object.fromEntries(env) })
  if (outputOptions.logLevel.commands.some((each) => each === command)) {
    const { createLogger } = await import('../lib/logger.js')
    createLogger(readLogging(parsed.config)).info({ config: resolve(file.path) }, 'configuration file')
  }
  return parsed
}

function requireCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate === name)
  if (command === undefined)
    throw new UsageError(`unknown command '${name}'${didYouMean(name, COMMANDS)}; see 'cairn help'`)
  return command
}

async function print(text: string): Promise<number> {
  await printResult(text)
  return 0
}

function fail(error: unknown): number {
  writeNotice(`cairn: ${messageOf(error).replace(/\s*\n\s*/g, ' ')}`)
  return error instanceof UsageError || isWrongDatabase(error) ? 2 : 1
}
