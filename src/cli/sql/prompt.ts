import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../../lib/errors.js'
import { didYouMean } from '../../lib/suggestion.js'
import { createPrinter, SQL_FORMATS, type SqlFormat } from './printer.js'
import type { SqlSession } from './session.js'

const COMMANDS = ['.tables', '.schema', '.format', '.timing', '.help', '.quit'] as const

const HELP = `A query ends with a semicolon and may take several lines. Ctrl-C ends the query that runs.
.tables                          tables and views
.schema [NAME]                   definitions
.format table|json|ndjson|csv    how rows are printed
.timing on|off                   the time and the engine of each query
.quit                            leave (also Ctrl-D)`

// In query order; other keywords are rarely typed.
const KEYWORDS = [
  'SELECT',
  'FROM',
  'WHERE',
  'GROUP BY',
  'ORDER BY',
  'LIMIT',
  'HAVING',
  'JOIN',
  'DISTINCT',
  'BETWEEN',
  'count',
  'sum',
  'CAST',
]

interface PromptOptions {
  readonly format: SqlFormat
  readonly input: Readable & { isTTY?: boolean }
  readonly output: Writable
}

/** Reads queries and commands until end of input. Returns 1 if one of them failed and the input is not a terminal. */
export async function runPrompt(session: SqlSession, options: PromptOptions): Promise<number> {
  const { input, output } = options
  const isTerminal = input.isTTY === true
  const state = { format: options.format, timing: false, hasFailed: false }
  const names = isTerminal ? await readNames(session) : []
  const lines = createInterface({
    ...{ input, output: isTerminal ? output : undefined, terminal: isTerminal },
    completer: (line: string) => complete(line, names),
    prompt: 'cairn> ',
    historySize: 1000,
  })
  let running: AbortController | undefined
  let pending = ''
  const showPrompt = () => {
    if (!isTerminal) return
    lines.setPrompt(pending === '' ? 'cairn> ' : '   ...> ')
    lines.prompt()
  }
  lines.on('SIGINT', () => {
    if (running === undefined) {
      pending = ''
      output.write('\n')
      showPrompt()
    } else running.abort()
  })
  const run = async (work: (signal: AbortSignal) => Promise<void>) => {
    running = new AbortController()
    try {
      await work(running.signal)
    } catch (error) {
      state.hasFailed = true
      process.stderr.write(`error: ${running.signal.aborted ? 'stopped' : messageOf(error)}\n`)
    }
    running = undefined
  }
  showPrompt()
  for await (const line of lines) {
    if (pending === '' && line.trim().startsWith('.')) {
      if (/^\.(quit|exit)$/.test(line.trim())) break
      await run(() => obey(line.trim(), session, { state, output }))
    } else {
      pending = pending === '' ? line : `${pending}\n${line}`
      if (pending.trim() === '') pending = ''
      else if (isComplete(pending)) {
        const sql = pending
        pending = ''
        await run((signal) => query(session, sql, { state, output, signal }))
      }
    }
    showPrompt()
  }
  if (pending !== '') await run((signal) => query(session, pending, { state, output, signal }))
  lines.close()
  return state.hasFailed && !isTerminal ? 1 : 0
}

interface State {
  format: SqlFormat
  timing: boolean
}

async function query(
  session: SqlSession,
  sql: string,
  { state, output, signal }: { state: State; output: Writable; signal: AbortSignal },
): Promise<void> {
  const { summary } = await createPrinter(output).print(session.run(sql, signal), state.format)
  if (state.timing) process.stderr.write(`${summary}\n`)
}

async function obey(
  line: string,
  session: SqlSession,
  { state, output }: { state: State; output: Writable },
): Promise<void> {
  const [word, operand] = line.split(/\s+/)
  if (word === '.help') output.write(`${HELP}\n`)
  else if (word === '.tables') output.write(`${[...(await session.catalogue()).keys()].join('\n')}\n`)
  else if (word === '.schema') {
    const found = await session.schema(operand)
    if (found.length === 0) throw new Error(`no table or view ${operand}; see .tables`)
    output.write(found.map((text) => `${text};\n`).join(''))
  } else if (word === '.format') {
    const format = SQL_FORMATS.find((name) => name === operand)
    if (format === undefined) throw new Error(`.format: expected ${SQL_FORMATS.join(', ')}, got '${operand ?? ''}'`)
    state.format = format
  } else if (word === '.timing') {
    if (operand !== 'on' && operand !== 'off') throw new Error(`.timing: expected on or off, got '${operand ?? ''}'`)
    state.timing = operand === 'on'
  } else throw new Error(`unknown command ${word}${didYouMean(word, COMMANDS)}; see .help`)
}

/** Returns true if the text ends with a semicolon outside quotes and comments. */
export function isComplete(sql: string): boolean {
  const bare = sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith("'") || found.startsWith('"') ? 'x' : ' ',
  )
  return /;\s*$/.test(bare) && !/['"]|\/\*/.test(bare)
}

async function readNames(session: SqlSession): Promise<string[]> {
  const catalogue = await session.catalogue()
  return [...new Set([...catalogue.keys(), ...[...catalogue.values()].flat(), ...KEYWORDS])]
}

/** Returns the completions of the last word of the line, and that word. */
export function complete(line: string, names: readonly string[]): [string[], string] {
  const word = /[\w.]*$/.exec(line)![0]
  const candidates = line.trimStart().startsWith('.') ? COMMANDS : names
  if (word === '') return [[], word]
  return [candidates.filter((name) => name.toLowerCase().startsWith(word.toLowerCase())), word]
}
