import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decodeBlock, encodeBlock, transactionsRlp } from '../../../src/chain/eth/block.js'
import { recoverSender } from '../../../src/chain/eth/transaction.js'
import type { Block, Transaction } from '../../../src/chain/eth/types.js'
import { openChainRlp } from '../../../src/sources/files/chainRlp.js'
import { openEra1 } from '../../../src/sources/files/era1.js'
import {
  countTransactions,
  createSenderBatch,
  knownSendersOf,
  recoverSenders,
  type SenderBatch,
} from '../../../src/sources/senders/senderBatch.js'
import { SenderRecovery } from '../../../src/sources/senders/senderRecovery.js'
import { SendersAhead } from '../../../src/sources/senders/sendersAhead.js'
import type { BlockSource, RawBlock } from '../../../src/sources/source.js'
import { buildEra1, exampleEraBlocks } from '../../support/chains/era1File.js'
import { encodeChain, fixtureBlocks } from '../../support/chains/fixture.js'
import { mutate } from '../../support/chains/mutate.js'
import { keepLog } from '../../support/chains/rightChain.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { randomUnsigned, TRANSACTION_TYPES } from '../../support/randomTransaction.js'
import { signTransaction } from '../../support/signing.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

const [template] = fixtureBlocks()
const folder = temporaryDirectory({ after })

/** Returns the sender by `recoverSender`; undefined for a signature of no key. */
function senderOf(transaction: Transaction): Uint8Array | undefined {
  try {
    return recoverSender(transaction)
  } catch {
    return undefined
  }
}

/** Returns a transaction of a random type, with a signature of no key if `isValid` is false. */
function randomTransaction(random: SeededRandom, isValid = true): Transaction {
  const type = TRANSACTION_TYPES[random.below(TRANSACTION_TYPES.length)]
  const signed = signTransaction(randomUnsigned(random, type), random.bytes(32))
  let { r } = signed
  while (!isValid && senderOf({ ...signed, r })) r += 1n // about half of all r have no key
  return { ...signed, r }
}

/** Returns a block with up to 12 random transactions; one in six of them has a signature of no key if `hasInvalid`. */
function randomBlock(random: SeededRandom, hasInvalid: boolean): Block {
  const transactions = Array.from({ length: random.below(13) }, () =>
    randomTransaction(random, !hasInvalid || random.below(6) > 0),
  )
  return { ...template, transactions }
}

function batchOf(blocks: readonly Block[]): SenderBatch {
  const lists = blocks.map((block) => transactionsRlp(encodeBlock(block))!)
  return createSenderBatch(lists, lists.map(countTransactions) as number[])
}

/** Returns what `decode` returns, or the message of what it throws. */
function outcomeOf(decode: () => unknown): unknown {
  try {
    return decode()
  } catch (error) {
    return String(error)
  }
}

test('the thread recovers the sender of each valid transaction of every type', async (t) => {
  const recovery = new SenderRecovery({ cores: 2 })
  t.after(() => recovery.close())
  const random = seededRandom(1)
  for (let round = 0; round < 4; round++) {
    const blocks = Array.from({ length: 6 }, () => randomBlock(random, round > 1))
    const batch = batchOf(blocks)
    await recovery.recover(batch)
    for (const [i, senders] of knownSendersOf(batch).entries()) {
      for (const [index, transaction] of blocks[i].transactions.entries()) {
        assert.deepEqual(senders.take(index), senderOf(transaction))
      }
    }
  }
  assert.equal(recovery.isRunning, true)
})

test('a block decodes the same with none, some or all of its senders known', () => {
  const random = seededRandom(2)
  for (let round = 0; round < 60; round++) {
    const block = randomBlock(random, round % 2 === 0)
    const bytes = encodeBlock(block)
    const batch = batchOf([block])
    let left = random.below(block.transactions.length + 2)
    recoverSenders(batch, () => left-- === 0)
    const [senders] = knownSendersOf(batch)
    assert.deepEqual(
      outcomeOf(() => decodeBlock(bytes, senders)),
      outcomeOf(() => decodeBlock(bytes)),
    )
  }
})

test('a sender that is taken is not recovered any more, and is left to whoever took it', () => {
  const block = { ...template, transactions: [randomTransaction(seededRandom(3))] }
  const batch = batchOf([block])
  const [senders] = knownSendersOf(batch)
  assert.equal(senders.take(0), undefined)
  recoverSenders(batch, () => false)
  assert.equal(senders.take(0), undefined)
})

/** Reads all blocks of a source. @returns them, and the message and the name of the error that ended it */
async function readAll(source: () => BlockSource, senderRecovery?: SenderRecovery, from = 0) {
  const read: RawBlock[] = []
  const passed: number[] = []
  try {
    const passedOver = (number: number) => void passed.push(number)
    for await (const raw of source().blocks({ from, passedOver, senderRecovery })) read.push(raw)
  } catch (error) {
    return { read, passed, error: String(error) }
  }
  return { read, passed, error: undefined }
}

test('files yield the same blocks and end with the same error, whole or damaged', async (t) => {
  const recovery = new SenderRecovery({ cores: 2, minTransactions: 0 })
  t.after(() => recovery.close())
  const random = seededRandom(4)
  const chain = encodeChain(fixtureBlocks())
  const signed = Array.from({ length: 20 }, () => randomBlock(random, false))
  const invalid = signed.with(13, {
    ...template,
    transactions: [1, 2, 3].map((i) => randomTransaction(random, i !== 2)),
  })
  const era1 = buildEra1(exampleEraBlocks(20))
  const files: { bytes: Uint8Array; open: (path: string) => BlockSource; from?: number }[] = [
    { bytes: chain, open: openChainRlp },
    { bytes: chain, open: openChainRlp, from: 20 },
    { bytes: encodeChain(signed), open: openChainRlp },
    { bytes: encodeChain(invalid), open: openChainRlp },
    { bytes: era1, open: openEra1 },
    { bytes: era1, open: openEra1, from: 110 },
  ]
  for (let i = 0; i < 40; i++) files.push({ bytes: mutate(encodeChain(signed), random), open: openChainRlp })
  for (let i = 0; i < 20; i++) files.push({ bytes: mutate(era1, random), open: openEra1 })
  const errors = new Set<string | undefined>()
  for (const { bytes, open, from } of files) {
    const path = join(folder, 'blocks')
    writeFileSync(path, bytes)
    const wanted = await readAll(() => open(path), undefined, from)
    assert.deepEqual(await readAll(() => open(path), recovery, from), wanted)
    errors.add(wanted.error)
  }
  assert.equal(recovery.isRunning, true)
  assert.ok(errors.size > 10)
  assert.ok([...errors].some((error) => error?.includes('transactions[1].signature')))
})

test('few transactions, one core and the switch start no thread', async (t) => {
  const few = Array.from({ length: 3 }, () => randomBlock(seededRandom(5), false))
  const lists = few.map((block) => transactionsRlp(encodeBlock(block)))
  for (const options of [{ cores: 2, minTransactions: 1e6 }, { cores: 1 }, { cores: 2, isEnabled: false }]) {
    const recovery = new SenderRecovery({ minTransactions: 0, ...options })
    t.after(() => recovery.close())
    assert.equal(new SendersAhead(recovery).begin(lists), undefined)
    assert.equal(recovery.isRunning, false)
  }
})

test('the thread starts after as many transactions of one source, and ends when it is idle', async (t) => {
  const recovery = new SenderRecovery({ cores: 2, minTransactions: 2, idleMs: 1 })
  t.after(() => recovery.close())
  const block = { ...template, transactions: [randomTransaction(seededRandom(6))] }
  const lists = [transactionsRlp(encodeBlock(block)), undefined, Uint8Array.of(0xc1), Uint8Array.of(0xc0)]
  const ahead = new SendersAhead(recovery)
  assert.equal(ahead.begin(lists), undefined)
  assert.equal(ahead.begin(lists), undefined)
  assert.equal(new SendersAhead(recovery).begin(lists), undefined)
  const begun = ahead.begin(lists)!
  assert.equal(recovery.isRunning, true)
  await begun.finished
  assert.deepEqual(begun.senders[0]!.take(0), block.transactions[0].from)
  assert.deepEqual(begun.senders.slice(1), [undefined, undefined, undefined])
  await until(() => !recovery.isRunning)
  assert.equal(recovery.isActive, true)
  const again = ahead.begin(lists)!
  await again.finished
  assert.deepEqual(again.senders[0]!.take(0), block.transactions[0].from)
})

test('after the thread died, senders are left to the caller, and the log says so', async (t) => {
  const { log, lines } = keepLog()
  const recovery = new SenderRecovery({ cores: 2, minTransactions: 0, log })
  t.after(() => recovery.close())
  const block = { ...template, transactions: [randomTransaction(seededRandom(7))] }
  const broken = { counts: [1], memory: new SharedArrayBuffer(1) }
  const waiting = [broken, batchOf([block])].map((batch) => recovery.recover(batch))
  await Promise.all(waiting)
  assert.equal(recovery.isActive, false)
  assert.equal(recovery.isRunning, false)
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [['warn', 'the thread that recovers senders ended; the writer recovers them itself']],
  )
  assert.equal(new SendersAhead(recovery).begin([transactionsRlp(encodeBlock(block))]), undefined)
  await recovery.recover(batchOf([block]))
})

test('closing ends the thread in the middle of its batches', async () => {
  const recovery = new SenderRecovery({ cores: 2 })
  const random = seededRandom(8)
  const transaction = randomTransaction(random)
  const block = { ...template, transactions: Array.from({ length: 2_000 }, () => transaction) }
  const batches = [batchOf([block]), batchOf([block])]
  const finished = batches.map((batch) => recovery.recover(batch))
  await recovery.close()
  await Promise.all(finished)
  assert.equal(recovery.isRunning, false)
  for (const batch of batches) {
    const sender = knownSendersOf(batch)[0].take(0) // the last one that the thread comes to
    assert.ok(sender === undefined || Buffer.from(sender).equals(transaction.from))
  }
})
