import { createServer } from 'node:net'
import type { Log } from '../../src/chain/eth/types.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { type CairnServer, startDefaultCairn } from '../../test/support/cairn.js'
import { BRANCHES_GENESIS, openBranches, randomPlan, SENDERS } from '../../test/support/chains/branches.js'
import type { SeededRandom } from '../../test/support/random.js'
import { createChainBuilder } from '../fixture/chainBuilder.js'

/** A block of the soak's chain, with its logs in order. */
export interface SoakBlock {
  readonly hash: Uint8Array // 32
  readonly logs: readonly Log[]
}

/** The chain that is followed: it grows and reorganizes at random, in a database of its own. */
export interface SoakChain {
  /** By number; block 0 is the genesis. */
  readonly blocks: readonly SoakBlock[]
  /** Adds a block. */
  grow(): Promise<void>
  /** Replaces blocks above the finalized one by a branch that is longer. @returns how many were removed */
  reorganize(): Promise<number>
  close(): void
}

// How far finality is behind, and so the deepest reorg. Shallow ones are the most frequent.
const FINALIZED_BEHIND = 72
const MAX_DEPTH = 64
const MAX_TRANSACTIONS = 8
const INDEX_SLICE_MS = 3

/** Makes the chain in an empty directory. */
export async function createSoakChain(datadir: string, random: SeededRandom): Promise<SoakChain> {
  const { db } = await openBranches(datadir)
  const builder = await createChainBuilder(db, BRANCHES_GENESIS)
  const { head } = builder.chain
  const state = createStateReads(db)
  const blocks: SoakBlock[] = [{ hash: head.newest!.hash, logs: [] }]
  head.finalize({ safe: 0, finalized: 0 })

  const addBlock = async () => {
    const transactions = Array.from({ length: random.below(MAX_TRANSACTIONS) }, () => randomPlan(random))
    const { block, receipts } = await builder.add({ transactions, extraData: random.bytes(8) })
    blocks.push({ hash: block.hash, logs: receipts.flatMap(({ logs }) => logs) })
    builder.blocks.length = 0 // no longer needed
  }
  const settle = () => {
    const number = blocks.length - 1
    head.finalize({ safe: Math.max(0, number - 32), finalized: Math.max(0, number - FINALIZED_BEHIND) })
    head.workOnIndexes(INDEX_SLICE_MS)
  }
  return {
    blocks,
    grow: async () => {
      await addBlock()
      settle()
    },
    reorganize: async () => {
      const number = blocks.length - 1
      const deepest = Math.min(MAX_DEPTH, number - head.finality().finalized)
      const depth = Math.ceil((random.below(1000) / 1000) ** 3 * deepest)
      builder.rewind(number - depth)
      blocks.length -= depth
      for (const sender of SENDERS) sender.nonce = state.nonce(sender.address, number - depth)
      for (let left = depth + 1 + random.below(3); left > 0; left--) await addBlock()
      settle()
      return depth
    },
    close: () => db.close(),
  }
}

/** `cairn serve` of the chain in a process of its own, which can be killed and comes back at the same URL. */
export interface SoakUpstream {
  readonly url: string
  /** SIGKILL, unless it is down. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** An upstream that serves the database of `datadir`, started. */
export async function startSoakUpstream(datadir: string): Promise<SoakUpstream> {
  const port = await findFreePort()
  let server: CairnServer | undefined
  const start = async () => {
    server ??= await startDefaultCairn({ after() {} }, ['--datadir', datadir, '--open', '--port', String(port)])
  }
  await start()
  return {
    url: server!.socketUrl,
    start,
    kill: async () => {
      const { running } = server ?? {}
      server = undefined
      running?.child.kill('SIGKILL')
      await running?.ended
    },
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address() as { port: number }
      server.close(() => resolve(address.port))
    })
  })
}
