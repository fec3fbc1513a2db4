import { COMMANDS, type Command, listOptions, type Option } from './config.js'

/** What a command is for, and how its operands are written. */
export interface CommandDoc {
  readonly summary: string
  readonly usage: readonly string[]
  readonly detail?: string
}

/** The commands in words, for help and the reference page. */
export const COMMAND_DOCS: { readonly [K in Command]: CommandDoc } = {
  import: {
    summary: 'Verify blocks from files and store them.',
    usage: ['cairn import [OPTIONS] PATH...'],
    detail:
      'PATH is a file of chain RLP (.rlp, .blocks), an era1 archive (.era1) or layer-2 recordings (.json, .ndjson); each\n' +
      'also with .gz. What it is is recognised from its content.\n' +
      'Running it again goes on where it stopped: blocks that are there are skipped.',
  },
  serve: {
    summary: 'Answer JSON-RPC over HTTP and WebSocket.',
    usage: ['cairn serve [OPTIONS]', 'cairn serve --fixture DIR [OPTIONS]'],
    detail:
      "Calls go to POST /v3/<API_KEY>, sockets open at /ws/v3/<API_KEY>. Prints 'ready http://HOST:PORT' on standard\n" +
      'output when it answers. SIGINT and SIGTERM finish the requests under way.',
  },
  keys: {
    summary: 'Manage API keys.',
    usage: ['cairn keys create NAME', 'cairn keys list', 'cairn keys revoke ID'],
    detail:
      'A key is shown once, when it is made; only its SHA-256 is stored. A revoked key stops at once, also in a\nserver that is running.',
  },
  status: {
    summary: 'Show what the database holds.',
    usage: ['cairn status [OPTIONS]'],
  },
  'explain-logs': {
    summary: 'Show what a log query does, where its time goes, and what would be better.',
    usage: ['cairn explain-logs [OPTIONS] FILTER.json', 'cairn explain-logs [OPTIONS] - < FILTER.json'],
    detail:
      'The file has a filter as eth_getLogs takes it, or a whole request with one. The query is run as a server would,\n' +
      'in a process that has nothing in memory yet. A server answers the same to cairn_explainLogs.',
  },
  verify: {
    summary: 'Compare the log index with what it was made from.',
    usage: ['cairn verify --index [OPTIONS]'],
    detail:
      'Makes the postings of each segment again from the rows of its logs and compares them with the stored ones, both\n' +
      'ways. Only reads; an import may run beside it. The first difference is named, with exit code 1.',
  },
  reindex: {
    summary: 'Rebuild the log index from the rows.',
    usage: ['cairn reindex [OPTIONS]'],
    detail:
      'A server may run beside it: it answers right throughout, more slowly until the index is there again. SIGINT and\n' +
      'SIGTERM end it after the step under way, in a moment; an import, or running it again, completes the index.',
  },
  help: {
    summary: 'Show help for a command.',
    usage: ['cairn help [COMMAND]'],
  },
}

/** The help of `cairn` itself. */
export function formatHelp(): string {
  const lines = COMMANDS.map((command) => `  ${command.padEnd(14)}${COMMAND_DOCS[command].summary}`)
  return [
    'Cairn: a chain indexer and JSON-RPC server over its own database.',
    '',
    'Usage: cairn COMMAND [OPTIONS]',
    '       cairn --version',
    '',
    ...lines,
    '',
    "See 'cairn help COMMAND'. Every option can also be given as an environment variable.",
  ].join('\n')
}

/** The help of a command. */
export function formatCommandHelp(command: Command): string {
  const { summary, usage, detail } = COMMAND_DOCS[command]
  const options = listOptions().filter(([, option]) => option.commands.includes(command))
  return [
    summary,
    '',
    ...usage.map((line, i) => `${i === 0 ? 'Usage:' : '      '} ${line}`),
    ...(detail === undefined ? [] : ['', detail]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...options.map(([, option]) => formatOption(option))]),
  ].join('\n')
}

/** An option's default as a person reads it. */
export function formatDefault(option: Option<unknown>): string {
  return option.defaultText ?? String(option.default)
}

function formatOption(option: Option<unknown>): string {
  const left = `  --${option.flag}${option.placeholder === undefined ? '' : ` ${option.placeholder}`}`
  const unit = option.unit === undefined ? '' : ` ${option.unit}`
  return `${left}\n      ${option.doc} Default: ${formatDefault(option)}${unit}.`
}
