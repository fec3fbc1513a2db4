import type { Command } from './config.js'

/** A command line to copy, and what it does where that needs a word. */
export interface Example {
  readonly line: string
  readonly note?: string
}

/** What a command is for, how its operands are written, and examples of its use. */
export interface CommandDoc {
  readonly summary: string
  readonly usage: readonly string[]
  /** Paragraphs: wrapped by whoever shows them. */
  readonly detail: readonly string[]
  readonly examples: readonly Example[]
}

/** The commands in words, for help and the reference page. */
export const COMMAND_DOCS: { readonly [K in Command]: CommandDoc } = {
  import: {
    summary: 'Verify blocks from files and store them.',
    usage: ['cairn import [OPTIONS] PATH...'],
    detail: [
      'PATH is a file of RLP blocks (.rlp, .blocks), an era1 archive (.era1) or layer-2 recordings (.json, .ndjson), each ' +
        'also gzipped (.gz). The format is detected from the content.',
      'PATH may be a directory: its genesis.json names the chain, unless --genesis or --network does, and block 0 is ' +
        'stored. Beside a genesis.json, chain.rlp and l2.ndjson (each also .gz) are imported alone, where there is a ' +
        'chain.rlp: a fixture. Else all files right in it with one of the endings above are, by name, numbers in names by ' +
        'their value; JSON without layer-2 blocks is passed over.',
      'Blocks that are held already are skipped, so the same command resumes an interrupted import. SIGINT and SIGTERM ' +
        'end it after the batch under way.',
    ],
    examples: [
      { line: 'cairn import --genesis genesis.json chain.rlp', note: 'a chain of your own' },
      { line: 'cairn import --network mainnet mainnet-00000-5ec1ffb8.era1', note: 'a built-in network' },
      { line: 'cairn import --network mainnet --state none era1/', note: 'receipts, without execution' },
      { line: 'cairn import fixtures/chain', note: 'a fixture directory' },
      { line: 'cairn import l2.ndjson', note: 'Starknet blocks' },
    ],
  },
  serve: {
    summary: 'Answer JSON-RPC over HTTP and WebSocket.',
    usage: ['cairn serve [OPTIONS]', 'cairn serve --fixture DIR [OPTIONS]'],
    detail: [
      "Requests go to POST /v3/<API_KEY>, sockets open at /ws/v3/<API_KEY>. Prints 'ready http://HOST:PORT' on standard " +
        'output when it answers. SIGINT and SIGTERM finish the requests under way.',
    ],
    examples: [
      { line: 'cairn serve', note: 'needs an API key: cairn keys create NAME' },
      { line: 'cairn serve --open --port 0', note: 'no key, a free port' },
      { line: 'cairn serve --fixture test/chain', note: 'for CI: a temporary database' },
    ],
  },
  keys: {
    summary: 'Manage API keys.',
    usage: ['cairn keys create NAME', 'cairn keys list', 'cairn keys revoke NAME|ID'],
    detail: [
      'A key is shown once, when it is created; only its SHA-256 is stored. A running server refuses a revoked key at once.',
    ],
    examples: [
      { line: 'cairn keys create dashboard', note: 'prints the key on standard output' },
      { line: 'cairn keys list' },
      { line: 'cairn keys revoke dashboard' },
    ],
  },
  status: {
    summary: 'Show what the database holds.',
    usage: ['cairn status [OPTIONS]'],
    detail: [],
    examples: [{ line: 'cairn status' }, { line: 'cairn status --datadir /srv/cairn --json', note: 'for scripts' }],
  },
  'explain-logs': {
    summary: 'Show what a log query does, where its time goes, and what would be better.',
    usage: ['cairn explain-logs [OPTIONS] FILTER.json', 'cairn explain-logs [OPTIONS] - < FILTER.json'],
    detail: [
      'The file holds a filter as eth_getLogs takes it, or a whole request with one. The query runs as in a server that ' +
        'has nothing in memory yet. cairn_explainLogs gives the same from a running server.',
    ],
    examples: [
      { line: 'cairn explain-logs filter.json' },
      { line: `echo '{"fromBlock":"0x0","toBlock":"latest"}' | cairn explain-logs -` },
    ],
  },
  verify: {
    summary: 'Check that a database holds what was imported.',
    usage: ['cairn verify [OPTIONS]'],
    detail: [
      'Recomputes from the rows what each answer is made from: block hashes, roots, blooms and senders, the state root of ' +
        "every block, the indexes, layer-2 hashes; and runs SQLite's integrity check. Without an option it does all of that; " +
        'options name the parts to do.',
      'The first fault is named by table, row and column, with exit code 1. Only reads; an import may run beside it.',
    ],
    examples: [
      { line: 'cairn verify' },
      { line: 'cairn verify --blocks --from 18000000', note: 'the newer blocks' },
      { line: 'cairn verify --index --segments log:3', note: 'one segment' },
    ],
  },
  reindex: {
    summary: 'Rebuild the indexes from the rows.',
    usage: ['cairn reindex [OPTIONS]'],
    detail: [
      'A server may run beside it: it answers correctly throughout, more slowly until the index is back. SIGINT and ' +
        'SIGTERM end it after the step under way; an import, or running it again, completes the index.',
    ],
    examples: [{ line: 'cairn reindex --datadir /srv/cairn' }],
  },
  version: {
    summary: 'Print the version.',
    usage: ['cairn version'],
    detail: [],
    examples: [{ line: 'cairn version' }],
  },
  help: {
    summary: 'Show help for a command.',
    usage: ['cairn help [COMMAND]'],
    detail: [],
    examples: [{ line: 'cairn help import' }],
  },
}
