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
  /** Paragraphs, which help wraps. */
  readonly detail: readonly string[]
  readonly examples: readonly Example[]
}

/** Documentation of the commands, for help and the reference page. */
export const COMMAND_DOCS: { readonly [K in Command]: CommandDoc } = {
  import: {
    summary: 'Verify blocks from files and store them.',
    usage: ['cairn import [OPTIONS] PATH...', 'cairn import [OPTIONS] --state-dump FILE --at FILE'],
    detail: [
      'PATH is a file of RLP blocks (.rlp, .blocks), an era1 or ere archive (.era1, .ere) or layer-2 recordings (.json, .ndjson), each ' +
        'also gzipped (.gz). The format is detected from the content.',
      'PATH may be a directory. Its genesis.json names the chain unless --genesis or --network does. A directory with ' +
        'genesis.json and chain.rlp is a fixture: only these and l2.ndjson are imported (chain.rlp and l2.ndjson also ' +
        'as .gz). From other directories, all files with one of the extensions above are imported in natural order of ' +
        'their names (2 before 10), without subdirectories. JSON files without layer-2 blocks are skipped.',
      'Stored blocks are skipped, so the same command resumes an interrupted import. SIGINT and SIGTERM end it after the ' +
        'current batch.',
      'With --state-dump it begins a new database of --state sparse with the whole state after one block, which is verified against the ' +
        'state root of the header of --at. A server that follows an upstream then begins at that block, and needs no state from the upstream ' +
        '(docs/real-network.md). The same command resumes an interrupted import; a dump that is wrong leaves nothing behind.',
    ],
    examples: [
      { line: 'cairn import --genesis genesis.json chain.rlp', note: 'a chain of your own' },
      { line: 'cairn import --network mainnet mainnet-00000-5ec1ffb8.era1', note: 'a built-in network' },
      { line: 'cairn import --network mainnet --state none era1/', note: 'receipts, without execution' },
      { line: 'cairn import --network mainnet --state none ere/', note: 'blocks of all forks' },
      { line: 'cairn import fixtures/chain', note: 'a fixture directory' },
      { line: 'cairn import l2.ndjson', note: 'Starknet blocks' },
      { line: 'cairn import --network hoodi --state-dump state.jsonl --at 9.json', note: 'a whole state' },
    ],
  },
  sync: {
    summary: 'Follow the chain of upstream nodes.',
    usage: ['cairn sync --upstream URL [OPTIONS]', 'cairn sync --l2-upstream URL [OPTIONS]'],
    detail: [
      'Verifies and stores the blocks of an upstream node, follows its head, and replaces blocks when the chain is ' +
        "reorganized. Runs until SIGINT or SIGTERM; the same command resumes. 'cairn serve' may run at the same time, and " +
        'serves each block at once.',
      'A new database needs --genesis or --network. It resumes after the stored blocks, as from files.',
      'With --l2-upstream or --l2-feeder, alone or beside --upstream, it follows a Starknet chain in the same way.',
      'A fork below the finalized block is not followed: the command ends with exit code 1 and names the block to which ' +
        "'cairn rewind' would go back.",
    ],
    examples: [
      { line: 'cairn sync --network mainnet --upstream http://127.0.0.1:8545' },
      {
        line: 'cairn sync --upstream wss://one.example --upstream https://two.example',
        note: 'resumes, two upstreams',
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
        'accepts requests. SIGINT and SIGTERM let running requests finish for 3.5 s, and end the process within 8.',
      "With --upstream it follows the chain of upstream nodes meanwhile, as 'cairn sync' does.",
      'With --publish it publishes the chain to NATS; --replica applies what another server publishes, and --standby takes over from it.',
    ],
    examples: [
      { line: 'cairn serve', note: 'after cairn keys create' },
      { line: 'cairn serve --open --port 0', note: 'no key, a free port' },
      { line: 'cairn serve --network mainnet --upstream http://127.0.0.1:8545' },
      { line: 'cairn serve --open --network dev --upstream ws://127.0.0.1:8545', note: 'anvil, geth' },
      { line: 'cairn serve --fixture test/chain', note: 'for CI: a temporary database' },
      { line: 'cairn serve --publish nats://127.0.0.1:4222', note: 'the writer of replicas' },
      { line: 'cairn serve --replica nats://127.0.0.1:4222', note: 'a replica' },
    ],
  },
  keys: {
    summary: 'Manage API keys.',
    usage: [
      'cairn keys create NAME [LIMITS]',
      'cairn keys list',
      'cairn keys limit NAME|ID LIMITS',
      'cairn keys usage [NAME|ID] [--days N]',
      'cairn keys revoke NAME|ID',
      'cairn keys export',
      'cairn keys import FILE',
    ],
    detail: [
      'A key is shown once, when it is created; only its SHA-256 is stored. A running server refuses a revoked key at once.',
      'LIMITS are --rate, --max-concurrent and --methods. Running servers keep to a change at once; limits that are not ' +
        'given stay.',
      'Usage is counted by day, key and method, with a delay of up to a minute: calls, errors, bytes of requests and of ' +
        'results before compression, and milliseconds from dispatch to result.',
      'export writes names, SHA-256 and limits of all keys as JSON. import adds those that another database does not have, and gives the ' +
        'others the same names and limits; a key that is revoked on either side is revoked then.',
    ],
    examples: [
      { line: 'cairn keys create dashboard', note: 'prints the key on standard output' },
      { line: 'cairn keys list' },
      { line: 'cairn keys limit dashboard --rate 50 --methods eth_call,eth_chainId' },
      { line: 'cairn keys usage dashboard --days 7' },
      { line: 'cairn keys revoke dashboard' },
      { line: 'cairn keys export > keys.json' },
      { line: 'cairn keys import keys.json', note: 'beside a running server, too' },
    ],
  },
  abi: {
    summary: 'Manage the ABIs by which logs and inputs are decoded.',
    usage: [
      'cairn abi add FILE|ADDRESS=FILE...',
      'cairn abi add --signatures FILE',
      'cairn abi add --sourcify DIR|ADDRESS=DIR',
      'cairn abi list',
      'cairn abi remove ID|NAME',
    ],
    detail: [
      'FILE contains a JSON ABI: an array, or an artefact of Hardhat or Foundry with a member abi. With ADDRESS= it is used for ' +
        'that contract only, and wins over the others. An ABI replaces the one with the same name and address. A running server ' +
        'uses it at once.',
      'With --signatures, FILE has lines of hash and signature, CSV with the columns text_signature and hex_signature as of ' +
        '4byte.directory, or JSON as of OpenChain and Sourcify. They name what no ABI does, as guesses.',
      'With --sourcify, DIR is a Sourcify repository (contracts/full_match/CHAINID/ADDRESS/metadata.json), or the directory of one ' +
        'contract. The ABIs of contracts that have code at the newest block are added, bound to their addresses.',
      'ERC-20, ERC-721, ERC-1155, ERC-4626, WETH, Uniswap v2 and v3, ENS and Safe are built in.',
    ],
    examples: [
      { line: 'cairn abi add out/Market.sol/Market.json' },
      { line: 'cairn abi add 0x5fbdb2315678afecb367f032d93f642f64180aa3=Token.json', note: 'for one contract' },
      { line: 'cairn abi add --signatures 4byte.csv', note: 'guesses for everything else' },
      { line: 'cairn abi list' },
      { line: 'cairn abi remove Token' },
    ],
  },
  sql: {
    summary: 'Query the database in SQL.',
    usage: ['cairn sql [OPTIONS] "QUERY"', 'cairn sql [OPTIONS]', 'cairn sql --lake off|auto|DIR [OPTIONS] ["QUERY"]'],
    detail: [
      'Opens the database read-only, with the views of docs/sql.md and one for each known event. Without QUERY it reads ' +
        'queries from a prompt, or from standard input. Ctrl-C ends the query that runs.',
      'DuckDB answers what it answers as SQLite does, where the package @duckdb/node-api is installed and a lake is there: Parquet ' +
        'files of the views. --lake auto extends it up to the newest final block first.',
    ],
    examples: [
      { line: 'cairn sql' },
      { line: `cairn sql "select address, count(*) as n from v_logs group by address order by n desc limit 5"` },
      { line: 'cairn sql --format csv "select * from v_erc20_transfers" > transfers.csv' },
      { line: 'cairn sql --lake auto "select count(distinct address) from v_logs"', note: 'in DuckDB' },
      { line: 'cairn sql --lake parquet "select count(*) from logs"', note: 'files of cairn export' },
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
      '--against-upstream proves base rows of sparse state again, alone unless parts are named: accounts and slots at the newest ' +
        'block, all or a sample, against proofs of a node. It names every account and slot that differs.',
      'Stops at the first fault and names its table, row and column; exit code 1. It only reads, and an import may run at ' +
        'the same time.',
    ],
    examples: [
      { line: 'cairn verify' },
      { line: 'cairn verify --blocks --from 18000000', note: 'the newer blocks' },
      { line: 'cairn verify --index --segments log:3', note: 'one segment' },
      { line: 'cairn verify --against-upstream http://127.0.0.1:8545 --sample 1000' },
    ],
  },
  reindex: {
    summary: 'Rebuild the indexes from the rows.',
    usage: ['cairn reindex [OPTIONS]'],
    detail: [
      'Drops the segments of the indexes of logs, transactions and addresses and builds them again. A server may run at the ' +
        'same time; its answers stay correct, but are slower until the index is complete. SIGINT and SIGTERM end it after the ' +
        'current step; the next import or reindex completes the index.',
      'Blocks that the address index lacks, as after an import with --address-index off, are added first, and executed again to ' +
        'find their internal calls; --address-index off leaves them out.',
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
      'NUMBER must be a stored block. SIGINT and SIGTERM end it after the current transaction; run again, it resumes.',
    ],
    examples: [
      { line: 'cairn rewind --to 18000000' },
      { line: 'cairn rewind --datadir /srv/cairn --to 0', note: 'all but the genesis' },
    ],
  },
  backup: {
    summary: 'Copy the database into one file while it is in use.',
    usage: ['cairn backup [OPTIONS] FILE'],
    detail: [
      'FILE holds the database as it was when the command began: one read transaction spans the copy. Servers and writers continue ' +
        'meanwhile; a writer cannot shorten its write-ahead log until the copy is done. The copy is checked (integrity, schema, ' +
        'facts) before it gets its name; a file that is there is never replaced. It holds the SHA-256 hashes of API keys.',
      'SIGINT and SIGTERM end it and leave no file.',
    ],
    examples: [
      { line: 'cairn backup /backup/cairn-2026-11-22.db' },
      { line: 'cairn backup --datadir /srv/cairn /backup/cairn.db' },
    ],
  },
  restore: {
    summary: 'Make a database from a backup.',
    usage: ['cairn restore [OPTIONS] FILE'],
    detail: [
      "FILE is what 'cairn backup' wrote. It is copied into the data directory, checked, and brought to the schema of this " +
        'version. A database that is there is never replaced.',
    ],
    examples: [{ line: 'cairn restore --datadir /srv/cairn /backup/cairn-2026-11-22.db' }],
  },
  snapshot: {
    summary: 'Keep copies of the database in parts, in a directory or on S3.',
    usage: [
      'cairn snapshot create DIR|s3://BUCKET/PREFIX [NAME] [--keep N]',
      'cairn snapshot list DIR|s3://BUCKET/PREFIX',
      'cairn snapshot restore DIR|s3://BUCKET/PREFIX [NAME]',
    ],
    detail: [
      'create: copies the database as it is now, while servers and writers continue, without API keys and secrets; stores the copy in ' +
        'parts of 64 MiB under their SHA-256, and then the manifest, which is never replaced. NAME is by default the number and the ' +
        'beginning of the hash of the newest block. The copy needs as much space beside the database as that takes.',
      'restore: downloads the newest snapshot or the named one into an empty data directory, checks the digest of every part and the ' +
        'newest block, and gives the database its name when it is whole.',
      'An interrupted command resumes when it is run again: create with the copy that it had made, restore with the parts ' +
        'that it has.',
      'S3 is any server that speaks its protocol. Credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and ' +
        'AWS_SESSION_TOKEN.',
    ],
    examples: [
      { line: 'cairn snapshot create /backup/cairn --keep 7' },
      { line: 'cairn snapshot create s3://snapshots/mainnet --s3-endpoint http://ceph.example:7480' },
      { line: 'cairn snapshot list s3://snapshots/mainnet' },
      { line: 'cairn snapshot restore s3://snapshots/mainnet --datadir /srv/cairn' },
    ],
  },
  migrate: {
    summary: 'Bring the schema of a database up to date.',
    usage: ['cairn migrate [OPTIONS]'],
    detail: [
      'From 0.2 on, each release migrates databases of the release before: with this command, or with the next import or sync. Until ' +
        'then, commands that read such a database refuse it. Databases of builds before 0.2 are not migrated.',
    ],
    examples: [{ line: 'cairn migrate --datadir /srv/cairn' }],
  },
  'upgrade-state': {
    summary: 'Raise a database without state to sparse state.',
    usage: ['cairn upgrade-state [OPTIONS]'],
    detail: [
      'The database was begun without state. Its state begins at the newest block, which must be of Cancun or later: cairn serve ' +
        'and cairn sync execute every block after it, and fetch the state that blocks and requests need from the upstream ' +
        '(docs/real-network.md). Blocks before it, their logs and the indexes stay as they are, without state.',
      'One transaction: killed at any moment, it is complete or did not happen. No other process may write the database; a server that ' +
        'only reads it may run at the same time.',
    ],
    examples: [{ line: 'cairn upgrade-state --datadir /srv/cairn' }],
  },
  export: {
    summary: 'Write blocks, transactions, logs and more as Parquet, CSV or NDJSON.',
    usage: [
      'cairn export [OPTIONS] --out DIR|s3://BUCKET/PREFIX|FILE|- DATASET...',
      'cairn export --format ere --out DIR [--blocks A:B]',
    ],
    detail: [
      'DATASET is blocks, transactions, receipts, logs, erc20-transfers, erc20-approvals, erc721-transfers, withdrawals, blobs, ' +
        'address-appearances, contracts, balances, nonces, codes, slots, balance-diffs, nonce-diffs, code-diffs, storage-diffs, l2-blocks, ' +
        'events (a dataset for each decoded event) or all (all but events); several are separated by spaces or commas. Files, columns and types are those of cryo (docs/export.md).',
      'A directory or a prefix on S3 gets a file for each range of blocks, and manifest.json with digests, which names the finished files. The ' +
        'same command resumes where it stopped, adds new blocks, and rewrites files whose blocks a reorg has replaced. It only ' +
        'reads the database; servers and writers continue.',
      '--format ere writes whole blocks with receipts to files of 8,192 blocks, which geth and others read, with checksums.txt.',
      'SIGINT and SIGTERM end it; what is in the manifest stays.',
    ],
    examples: [
      { line: 'cairn export all --out lake', note: 'everything that is stored' },
      { line: 'cairn export logs,erc20-transfers --blocks 18000000: --out lake' },
      { line: 'cairn export logs --address 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 --out usdc.csv' },
      { line: "cairn export events --event 'Transfer(address,address,uint256)' --out lake" },
      { line: 'cairn export transactions --format csv --out - | head' },
      { line: 'cairn export all --follow --out lake', note: 'continues with final blocks' },
      { line: 'cairn export --format ere --out history', note: 'whole blocks for other nodes' },
      { line: 'cairn export all --follow --out s3://lake/mainnet --s3-endpoint http://ceph.example:7480' },
    ],
  },
  record: {
    summary: 'Make a fixture directory from a running node.',
    usage: ['cairn record --upstream URL --out DIR [OPTIONS]'],
    detail: [
      'Records blocks and the state before them as DIR, which serve and import take as a fixture. Without --blocks ' +
        'it records the whole chain of a development node.',
      'If the node returns its whole state before the first block, that is recorded. Otherwise what the blocks need of it is ' +
        'fetched by witnesses or proofs (--state-fetch) and recorded with its proof: the fixture becomes a database with sparse ' +
        'state, in which what no recorded block needs is unknown. Both are verified like any chain. Of a development node whose ' +
        'state roots are not those of its accounts, DIR has the accounts and slots that the blocks read, and is marked as not ' +
        'verified: state roots are not compared, and what no recorded block reads is answered as empty.',
      'DIR is made when everything in it has been imported once. --genesis names the genesis file of a node with rules of its ' +
        'own. Blocks of impersonated accounts cannot be recorded: they have no signatures.',
    ],
    examples: [
      { line: 'cairn record --upstream http://127.0.0.1:8545 --out test/chain', note: 'anvil, geth' },
      { line: 'cairn record --upstream http://127.0.0.1:8545 --blocks 100:120 --out test/part' },
    ],
  },
  doctor: {
    summary: 'Check the machine, the data directory and upstream nodes, and say what to do.',
    usage: ['cairn doctor [OPTIONS] [--upstream URL]...'],
    detail: [
      'Checks the version of Node, native packages and WebAssembly, the open-file limit, free space and flushing of the data directory, ' +
        'which process writes it, the schema, and the file for 10 s (PRAGMA quick_check). It changes nothing but a temporary file, and a ' +
        'server may run at the same time.',
      'Of each upstream it asks what Cairn can use: the chain, which must be that of the database, the newest block with its receipts, ' +
        'proofs (eth_getProof) at the head and how far below it, up to 10,000 blocks, witnesses, traces, batches of 10, 100 and 1,000 calls, ' +
        'and subscriptions. Some of these requests are expensive; a provider may charge for them.',
      'Each probe ends after 10 s, all of an upstream after 60 s. Exit code 0 without a failure, 1 with one; warnings do not count.',
    ],
    examples: [
      { line: 'cairn doctor' },
      { line: 'cairn doctor --datadir /srv/cairn --upstream http://127.0.0.1:8545' },
      { line: 'cairn doctor --upstream ws://127.0.0.1:8546 --json', note: 'for scripts' },
    ],
  },
  completion: {
    summary: 'Print the completion script of a shell.',
    usage: ['cairn completion bash|zsh|fish'],
    detail: ['The script completes commands, options, their values, and paths.'],
    examples: [
      { line: 'source <(cairn completion bash)', note: 'in ~/.bashrc; zsh the same after compinit' },
      { line: 'cairn completion fish > ~/.config/fish/completions/cairn.fish' },
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
