import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import type { Database } from '../../src/store/database.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStateTrieTable } from '../../src/store/state/stateTrieTable.js'
import { TrieLayers } from '../../src/store/state/trieLayers.js'
import { createStateRoot } from '../../src/trie/stateRoot.js'
import {
  accountAddress,
  createStateGenesis,
  UPDATED_SLOTS,
  writeStateChain,
} from '../../test/support/chains/stateChain.js'
import { createSender } from '../../tools/fixture/chainBuilder.js'
import { readMainThread, readMemory } from '../lib/memory.js'
import { bytesOfTables } from '../lib/size.js'
import type { EvmRun } from './options.js'
import { measureProofs } from './proofs.js'

/** Imports a chain that makes a state of `accounts` accounts: what memory that takes, what the trie takes on disk, how
 *  long roots take, one for each block and one for 64, and how long proofs take over HTTP, at the head and before
 *  it. */
export async function measureState(run: EvmRun) {
  const { values } = run
  const { accounts, 'update-blocks': blocks, 'state-cache': cacheMb } = values
  const { directory, files, genesis, grown } = await run.once(makeStateChain)
  const datadir = join(directory, 'data')
  const first = await runImport(datadir, cacheMb, ['--genesis', genesis, files.growth])
  const again = await runImport(datadir, cacheMb, [files.growth])
  const db = openForWriting(datadir)
  const stored = describe(db)
  const roots = { everyBlock: timeRoots(db, 1, values), every64: timeRoots(db, 64, values) }
  // As the trie would be missing after an update from a version without it.
  db.exec("DELETE FROM meta WHERE key = 'state_trie'; DELETE FROM state_trie_pages")
  db.close()
  const rebuilt = await runImport(datadir, cacheMb, [files.growth])
  const spread = await runImport(datadir, cacheMb, ['--root-interval', '1', files.updates])
  const history = await measureHistory(datadir, cacheMb, files.updates)
  const proofs = await measureProofs(datadir, {
    accounts,
    slots: grown * 1_000 + blocks * UPDATED_SLOTS,
    behind: [...new Set([0, 1, 64, 128, 192, blocks, blocks + (grown >> 1)])].filter(
      (behind) => behind <= blocks + grown,
    ),
  })
  return {
    slots: grown * 1_000,
    import: { blocks: grown, ...first },
    reopen: again,
    stored,
    roots,
    rebuild: rebuilt,
    updateBlocks: { blocks, ...spread, blocksPerSecond: (blocks * 1000) / spread.ms },
    history,
    proofs,
  }
}

/** Makes the chain of `writeStateChain` in a folder of its own.
 *  @returns the folder, the files of the blocks and of the genesis, and the last block that the state grew with */
export async function makeStateChain({ values, directory: temporary }: EvmRun) {
  const { accounts, updates, 'update-blocks': updateBlocks } = values
  const directory = join(temporary, 'state')
  mkdirSync(directory)
  const files = { growth: join(directory, 'growth.rlp'), updates: join(directory, 'updates.rlp') }
  const builderDb = openForWriting(join(directory, 'builder'))
  const grown = await writeStateChain(builderDb, files, { accounts, updates, updateBlocks })
  builderDb.close()
  const genesis = join(directory, 'genesis.json')
  writeFileSync(genesis, JSON.stringify(createStateGenesis(createSender('state bench'))))
  return { directory, files, genesis, grown }
}

/** What an import took: on the clock, of the main thread's time on a core, and at most of memory. */
interface ImportFigures {
  ms: number
  ranMs: number
  peakAnonymousMb: number
  peakRssMb: number
}

/** `cairn import` in a process of its own. */
async function runImport(datadir: string, cacheMb: number, args: string[]): Promise<ImportFigures> {
  const startedMs = performance.now()
  const main = packagePath('dist/cli/main.js')
  const all = [main, 'import', '--datadir', datadir, '--state-cache', `${cacheMb}`, ...args]
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'ignore', 'inherit'] })
  let peakAnonymousMb = 0
  let peakRssMb = 0
  let ranMs = 0
  const timer = setInterval(() => {
    const memory = readMemory(child.pid!)
    ranMs = readMainThread(child.pid!)?.ranMs ?? ranMs
    peakAnonymousMb = Math.max(peakAnonymousMb, memory?.anonymousMb || 0)
    peakRssMb = Math.max(peakRssMb, memory?.peakRssMb || 0)
  }, 20)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(timer)
  if (code !== 0) throw new Error(`cairn import ended with ${code}`)
  return { ms: performance.now() - startedMs, ranMs, peakAnonymousMb, peakRssMb }
}

/** Past tries: bytes in the database, and what rebuilding them takes beside opening a file that is stored already. */
async function measureHistory(datadir: string, cacheMb: number, file: string) {
  const held = await runImport(datadir, cacheMb, [file])
  const db = openForWriting(datadir)
  const diskBytes = bytesOfTables(db, ['trie_page_versions'])
  db.exec("UPDATE meta SET value = json_remove(value, '$.history') WHERE key = 'state_trie'")
  db.close()
  const made = await runImport(datadir, cacheMb, [file])
  return { diskBytes, madeMs: made.ms - held.ms }
}

function describe(db: Database) {
  const trieBytes = db
    .prepare<[], number>(
      `SELECT (SELECT ifnull(sum(length(data)), 0) FROM state_trie_pages) +
         (SELECT ifnull(sum(length(data)), 0) FROM trie_layer_parts)`,
    )
    .pluck()
    .get()!
  return {
    triePages: createStateTrieTable(db).extent().count,
    trieBytes,
    trieDiskBytes: bytesOfTables(db, ['state_trie_pages', 'trie_layer_parts']),
    historyDiskBytes: bytesOfTables(db, ['account_history', 'storage_history', 'addresses']),
  }
}

/** Milliseconds per block, on the clock and of processor time, for the root of blocks that change `updates` accounts
 *  each, hashed every `interval` blocks and written to the database at the end, which is rolled back. */
function timeRoots(db: Database, interval: number, values: EvmRun['values']): { ms: number; cpuMs: number } {
  const { accounts, updates, 'update-blocks': blocks, 'state-cache': cacheMb } = values
  const root = createStateRoot(createStateTrieTable(db), (cacheMb / 2) * 2 ** 20)
  const rounds = Math.ceil(blocks / 64) * 64
  let n = 0
  db.exec('BEGIN IMMEDIATE')
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  for (let block = 1; block <= rounds; block++) {
    const touched = Array.from({ length: updates }, () => {
      const account = { nonce: 0n, balance: BigInt(n), codeHash: EMPTY_CODE_HASH }
      return { address: accountAddress((n++ * 7_919) % accounts), account, cleared: false, slots: [] }
    })
    root.note(touched)
    if (block % interval === 0) root.commit()
  }
  root.save()
  const ms = performance.now() - startedMs
  const { user, system } = process.cpuUsage(startedCpu)
  db.exec('ROLLBACK')
  TrieLayers.of(db).reload()
  return { ms: ms / rounds, cpuMs: (user + system) / 1000 / rounds }
}
