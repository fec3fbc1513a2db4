import type { Command } from './options/option.js'

/** A command line to copy, with a note if it needs one. */
export interface Example {
  readonly line: string
  readonly note?: string
}

/** Purpose, usage and examples of a command. */
export interface CommandDoc {
  readonly summary: string
  readonly usage: readonly string[]
  /** Paragraphs, to be wrapped. */
  readonly detail: readonly string[]
  readonly examples: readonly Example[]
}

/** Documentation of the commands, for help and the reference page. */
export const COMMAND_DOCS: { readonly [K in Command]: CommandDoc } = {
  import: {
    summary: 'Verify blocks from files and store them.',
    usage: ['cairn import [OPTIONS] PATH...'],
    detail: [
      'PATH is a file of RLP blocks (.rlp, .blocks), an era1 archive (.era1) or layer-2 recordings (.json, .ndjson), each ' +
        'also gzipped (.gz). The format is detected from the content.',
      'PATH may be a directory. Its genesis.json names the chain unless --genesis or --network does. A directory with ' +
        'genesis.json and chain.rlp is a fixture: only these and l2.ndjson are imported (chain.rlp and l2.ndjson also ' +
        'as .gz). From other directories, all files with one of the extensions above are imported in natural order of ' +
        'their names (2 before 10), without subdirectories. JSON files without layer-2 blocks are skipped.',
      'Stored blocks are skipped, so the same command resumes an interrupted import. SIGINT and SIGTERM end it after the ' +
        'current batch.',
    ],
    examples: [
      { line: 'cairn import --genesis genesis.json chain.rlp', note: 'a chain of your own' },
      { line: 'cairn import --network mainnet mainnet-00000-5ec1ffb8.era1', note: 'a built-in network' },
      { line: 'cairn import --network mainnet --state none era1/', note: 'receipts, without execution' },
      { line: 'cairn import fixtures/chain', note: 'a fixture directory' },
      { line: 'cairn import l2.ndjson', note: 'Starknet blocks' },
    ],
  },
  sync: {
    summary: 'Follow the chain of upstream nodes.',
    usage: ['cairn sync --upstream URL [OPTIONS]', 'cairn sync --l2-upstream URL [OPTIONS]'],
    detail: [
      'Verifies and stores the blocks of an upstream node, goes on with its head, and replaces blocks when the chain is ' +
        "reorganized. Runs until SIGINT or SIGTERM; the same command resumes. 'cairn serve' may run at the same time, and " +
        'serves each block at once.',
      'A new database needs --genesis or --network. It goes on after the blocks that are stored, as from files.',
      'With --l2-upstream or --l2-feeder, alone or beside --upstream, it follows a Starknet chain in the same way.',
      'A fork below the finalized block is not followed: the command ends with exit code 1 and names the block to which ' +
        "'cairn rewind' would go back.",
    ],
    examples: [
      { line: 'cairn sync --network mainnet --upstream http://127.0.0.1:8545' },
      {
        line: 'cairn sync --upstream wss://one.example --upstream https://two.example',
        note: 'goes on, two upstreams',
      },
      { line: 'cairn sync --network mainnet --state none --from 23000000 --upstream http://127.0.0.1:8545' },
      { line: 'cairn sync --l2-upstream http://127.0.0.1:9545/rpc/v0_9', note: 'a Starknet chain' },
    ],
  },
  serve: {
    summary: 'Answer JSON-RPC over HTTP and WebSocket.',
    usage: ['cairn serve [OPTIONS]', 'cairn serve --upstream URL [OPTIONS]', 'cairn serve --fixture DIR [OPTIONS]'],
    detail: [
      "HTTP: POST /v3/<API_KEY>. WebSocket: /ws/v3/<API_KEY>. Prints 'ready http://HOST:PORT' on standard output when it " +
        'accepts requests. SIGINT and SIGTERM let running requests finish.',
      "With --upstream it follows the chain of upstream nodes meanwhile, as 'cairn sync' does.",
    ],
    examples: [
      { line: 'cairn serve', note: 'after cairn keys create' },
      { line: 'cairn serve --open --port 0', note: 'no key, a free port' },
      { line: 'cairn serve --network mainnet --upstream http://127.0.0.1:8545' },
      { line: 'cairn serve --open --network dev --upstream ws://127.0.0.1:8545', note: 'anvil, geth' },
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
    summary: 'Show how a log query runs, where its time goes, and how to make it faster.',
    usage: ['cairn explain-logs [OPTIONS] FILTER.json', 'cairn explain-logs [OPTIONS] - < FILTER.json'],
    detail: [
      'FILTER.json contains an eth_getLogs filter or a whole request. The query runs with cold caches. cairn_explainLogs ' +
        'does the same in a running server.',
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
      'Recomputes block hashes, roots, blooms, senders, the state root of every block, the indexes and layer-2 hashes from ' +
        "the rows, and runs SQLite's integrity check. Options select parts; without one, everything is verified.",
      'Stops at the first fault and names its table, row and column; exit code 1. It only reads, and an import may run at ' +
        'the same time.',
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
      'Drops the segments of the log and transaction indexes and builds them again. A server may run at the same time; its ' +
        'answers stay correct, but are slower until the index is complete. SIGINT and SIGTERM end it after the current ' +
        'step; the next import or reindex completes the index.',
    ],
    examples: [{ line: 'cairn reindex --datadir /srv/cairn' }],
  },
  rewind: {
    summary: 'Remove the newest blocks.',
    usage: ['cairn rewind --to NUMBER [OPTIONS]'],
    detail: [
      'Removes all blocks above NUMBER with their transactions, receipts, logs, state and index entries, finalized blocks ' +
        'included; safe and finalized go back to NUMBER where they were above it. Layer-2 blocks stay. Blocks are removed ' +
        'newest first, in transactions of 256: a server may run at the same time, and always sees a whole chain.',
      'NUMBER must be a stored block. SIGINT and SIGTERM end it after the current transaction; run again, it goes on.',
    ],
    examples: [
      { line: 'cairn rewind --to 18000000' },
      { line: 'cairn rewind --datadir /srv/cairn --to 0', note: 'all but the genesis' },
    ],
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
