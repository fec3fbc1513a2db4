import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { encodeReplicatedBlock } from '../../src/replication/codec/message.js'
import type { StateMessage } from '../../src/replication/codec/types.js'
import { encodeFrame, encodeUnit } from '../../src/replication/http/frames.js'
import { createReplicatedChain } from '../../src/replication/replicatedChain.js'
import { createStateEntries } from '../../src/replication/stateEntries.js'
import { openForReading } from '../../src/store/open.js'
import { createStoredBlocks } from '../../src/store/replication/blockReader.js'
import { decodeStateEntry, encodeStateEntry } from '../../src/store/replication/stateEntry.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { runCairnOk } from '../support/cairn.js'
import {
  compareSeed,
  type ServedChain,
  SOME,
  SPARSE_LIMITS,
  serveRandomChain,
} from '../support/compare/sparseAnswers.js'
import { compareSparseRows, findSparseDifference } from '../support/compare/sparseRows.js'
import { type Member, startMember } from '../support/members.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber } from '../support/until.js'

/* Replicas of a writer with sparse state, over HTTP. */

const REQUESTS = THOROUGH ? 2_000 : 60

const writerArgs = ({ complete, genesis, first }: ServedChain) => [
  ...['--genesis', genesis, '--state', 'sparse', '--from', String(first), '--upstream', complete.url],
  ...['--state-fetch', 'proofs', '--replication', ...SPARSE_LIMITS],
]

const startReplica = (t: TestContext, { genesis }: ServedChain, writer: { url: string }) =>
  startMember(t, temporaryDirectory(t), [
    ...['--genesis', genesis, '--state', 'sparse', '--replica', writer.url, ...SPARSE_LIMITS],
  ])

type Tamper = (entry: StateMessage) => StateMessage

function withNodes(entry: StateMessage, change: (nodes: Uint8Array[]) => Uint8Array[]): StateMessage {
  const state = decodeStateEntry(entry.data)
  return { ...entry, data: encodeStateEntry({ ...state, nodes: change([...state.nodes]) }) }
}

function flipped(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice()
  changed[changed.length - 1] ^= 1
  return changed
}

const TAMPERED: [string, (entry: StateMessage) => boolean, Tamper, RegExp][] = [
  [
    'a node with another byte',
    ({ data }) => decodeStateEntry(data).nodes.length > 0,
    (entry) => withNodes(entry, ([first, ...rest]) => [flipped(first), ...rest]),
    /state\[\d+\]: the trie node 0x\w+ is not known: the message is damaged/,
  ],
  [
    'code with another byte',
    ({ codes }) => codes.length > 0,
    (entry) => ({ ...entry, codes: entry.codes.map(flipped) }),
    /state\[\d+\]\.codes\[0\]: expected the hash 0x\w+, got 0x/,
  ],
  [
    'a base row left out',
    ({ data }) => decodeStateEntry(data).accounts.some(({ isBase }) => isBase),
    (entry) => {
      const state = decodeStateEntry(entry.data)
      const accounts = state.accounts.map(({ address, baseSlots, slots }) => {
        return { address, isBase: false, baseSlots: [], slots: [...baseSlots, ...slots] }
      })
      return { ...entry, data: encodeStateEntry({ ...state, accounts, codeHashes: [] }), codes: [] }
    },
    /state of block \d+: expected the value of 0x\w+ before it changes, got none/,
  ],
]

/** Frames of a chain with sparse state, in which the first entry of a block that `fits` is changed. */
function tamperedFrames(datadir: string, fits: (entry: StateMessage) => boolean, tamper: Tamper): Buffer {
  const db = openForReading(datadir)
  try {
    const feed = createReplicatedChain(db)
    const entries = createStateEntries(db)
    const cursor = entries.cursor(0)
    const stored = createStoredBlocks(db)
    const head = { format: 2, 'chain-id': String(feed.chainId()), genesis: null }
    const frames = [encodeFrame(head)]
    let isTampered = false
    for (let number = createChainReader(db).coverage()!.first; !isTampered; number++) {
      const { entries: own = [], range } = cursor.take(number)
      const sent = own.map(entries.withCodes).map((entry) => {
        if (isTampered || entry.kind !== 'block' || !fits(entry)) return entry
        isTampered = true
        return tamper(entry)
      })
      const block = encodeReplicatedBlock({ ...stored.read(number)!, entries: sent })
      frames.push(...encodeUnit({ kind: 'blocks', blocks: [block], ...range }))
    }
    return Buffer.concat(frames)
  } finally {
    db.close()
  }
}

/** Resolves when the replica has all rows of the writer. */
async function untilEqual(replica: Member, writer: Member): Promise<void> {
  await until(() => findSparseDifference(replica.datadir, writer.datadir) === undefined, 30_000).catch(() => {})
  compareSparseRows(replica.datadir, writer.datadir, 'the replica')
}

test('a replica of a random chain gets all rows, those that requests fetch too, and answers as the complete one', async (t) => {
  const chain = await serveRandomChain(t, 1)
  const writer = await startMember(t, temporaryDirectory(t), writerArgs(chain))
  await untilBlockNumber(writer, chain.head)
  const early = await startReplica(t, chain, writer)
  await untilBlockNumber(early, chain.head)
  await untilEqual(early, writer)
  const { differences, compared } = await compareSeed(writer, chain, 5, REQUESTS, SOME)
  assert.deepEqual(differences.slice(0, 3), [])
  t.diagnostic(`${compared} answers compared`)
  await untilEqual(early, writer)
  const late = await startReplica(t, chain, writer)
  await untilBlockNumber(late, chain.head)
  await untilEqual(late, writer)
  const own = await compareSeed(late, chain, 5, REQUESTS, SOME)
  assert.deepEqual(own.differences.slice(0, 3), [])
  for (const each of [writer, early, late]) {
    await each.stop()
    assert.match(await runCairnOk(['verify', '--datadir', each.datadir]), /^state: roots of \d+ blocks, /m)
  }
  for (const [fault, fits, tamper, problem] of TAMPERED) {
    const frames = tamperedFrames(writer.datadir, fits, tamper)
    const forger = createServer((_, response) => void response.end(frames))
    await new Promise<void>((resolve) => forger.listen(0, '127.0.0.1', resolve))
    t.after(() => void forger.close())
    const url = `http://127.0.0.1:${(forger.address() as AddressInfo).port}`
    const replica = await startReplica(t, chain, { url })
    // Before it is verified, the end of the stream is the problem.
    await until(async () => (await replica.replication()).state === 'alarm')
    const status = await replica.replication()
    assert.equal(status.state, 'alarm', `${fault}: ${status.problem}`)
    assert.match(status.problem!, problem, fault)
    await replica.stop()
  }
})
