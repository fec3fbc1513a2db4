import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditL2Finality } from '../../src/audit/l2Finality.js'
import type { Log } from '../../src/chain/eth/types.js'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { coreContractsOn } from '../../src/chain/starknet/stateUpdate.js'
import type { L2Block } from '../../src/chain/starknet/types.js'
import { formatData } from '../../src/lib/hex.js'
import { createL2Reader } from '../../src/store/l2/l2Reader.js'
import { L2Writer } from '../../src/store/l2/l2Writer.js'
import { createRawL2 } from '../../src/store/l2/rawL2.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { nameCoreContract, reportMismatch } from '../../src/sync/stateUpdates.js'
import { BRANCHES_GENESIS } from '../support/chains/branches.js'
import { openInventedChain } from '../support/chains/inventedChain.js'
import { UNCHECKED } from '../support/chains/l2Blocks.js'
import { keepLog } from '../support/chains/rightChain.js'
import { CORE_CONTRACT, L2_CHAIN, stateUpdateLog } from '../support/chains/stateUpdateLogs.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/** A layer-1 chain whose next blocks log what the test says, and the layer-2 column of the same database. */
async function openBoth(t: TestContext, { random = seededRandom(9), isNamed = true } = {}) {
  const datadir = temporaryDirectory(t)
  const { log, lines } = keepLog()
  const next: Log[] = []
  const inventLogs = () => next.splice(0)
  const chain = await openInventedChain(datadir, {
    ...{ random, logsPerBlock: 3, inventLogs, log },
    coreContract: isNamed ? CORE_CONTRACT : undefined,
  })
  t.after(() => chain.close())
  const writer = new L2Writer(chain.db, { onMismatch: reportMismatch(chain.db, log) })
  const alarms = () => lines.filter(({ level }) => level === 'error')
  return { datadir, chain, next, writer, reader: createL2Reader(chain.db), alarms }
}

const store = (writer: L2Writer, blocks: readonly L2Block[]) => {
  for (const block of blocks) assert.equal(writer.importBlock(block, UNCHECKED), 'stored')
}

test('a state update of layer 1 promotes the layer-2 blocks up to its own, and a reorg takes that back', async (t) => {
  const { chain, next, writer, reader, alarms } = await openBoth(t)
  store(writer, L2_CHAIN.slice(0, 10))
  next.push(stateUpdateLog(3, L2_CHAIN[3].hash!))
  chain.change(0, 1)
  next.push(stateUpdateLog(7, L2_CHAIN[7].hash!))
  chain.change(0, 2)
  const statuses = () => L2_CHAIN.slice(0, 10).map(({ number }) => reader.blockByNumber(number!)!.status)
  const acceptedUpTo = (number: number) =>
    Array.from({ length: 10 }, (_, i) => (i <= number ? 'ACCEPTED_ON_L1' : 'ACCEPTED_ON_L2'))
  assert.deepEqual(statuses(), acceptedUpTo(7))
  assert.equal(reader.blockAcceptedOnL1()?.hash, L2_CHAIN[7].hash)
  chain.change(2, 3)
  assert.deepEqual(statuses(), acceptedUpTo(3))
  chain.change(4, 0)
  assert.deepEqual(statuses(), acceptedUpTo(-1))
  assert.equal(reader.blockAcceptedOnL1(), undefined)
  assert.deepEqual(alarms(), [])
})

test('a layer-2 block that comes after its state update is promoted with its transaction', async (t) => {
  const { chain, next, writer, reader } = await openBoth(t)
  next.push(stateUpdateLog(4, L2_CHAIN[4].hash!), stateUpdateLog(6, L2_CHAIN[6].hash!))
  chain.change(0, 1)
  store(writer, L2_CHAIN.slice(0, 4))
  assert.equal(reader.blockAcceptedOnL1(), undefined)
  store(writer, L2_CHAIN.slice(4, 6))
  assert.equal(reader.blockAcceptedOnL1()?.number, 4)
  store(writer, L2_CHAIN.slice(6, 8))
  assert.equal(reader.blockAcceptedOnL1()?.number, 6)
})

test('a state update with another hash is an alarm in the log, whichever comes first, and promotes nothing', async (t) => {
  const { chain, next, writer, reader, alarms } = await openBoth(t)
  store(writer, L2_CHAIN.slice(0, 4))
  next.push(stateUpdateLog(2, L2_CHAIN[2].hash!), stateUpdateLog(3, 0x333n), stateUpdateLog(5, 0x555n))
  chain.change(0, 1)
  store(writer, L2_CHAIN.slice(4, 8))
  assert.equal(reader.blockAcceptedOnL1()?.number, 2)
  const [{ message }] = alarms()
  assert.equal(message, 'layer 1 accepted another layer-2 block than the stored one, which is not promoted')
  const contract = formatData(CORE_CONTRACT)
  assert.deepEqual(
    alarms().map(({ fields }) => fields),
    [
      { block: 3, accepted: '0x333', stored: formatFelt(L2_CHAIN[3].hash!), l1Block: 1, contract },
      { block: 5, accepted: '0x555', stored: formatFelt(L2_CHAIN[5].hash!), l1Block: 1, contract },
    ],
  )
})

test('what a file calls accepted stays accepted when a reorg takes a lower or a higher state update back', async (t) => {
  const { chain, next, writer, reader } = await openBoth(t)
  store(writer, [...L2_CHAIN.slice(0, 5), { ...L2_CHAIN[5], status: 'ACCEPTED_ON_L1' }, ...L2_CHAIN.slice(6, 9)])
  const head = () => chain.db.prepare('SELECT l1_head_number AS number, finality_source AS source FROM l2_state').get()
  assert.deepEqual(head(), { number: 5, source: 'file' })
  next.push(stateUpdateLog(2, L2_CHAIN[2].hash!))
  chain.change(0, 1)
  assert.deepEqual(head(), { number: 5, source: 'file' })
  next.push(stateUpdateLog(8, L2_CHAIN[8].hash!))
  chain.change(0, 1)
  assert.deepEqual(head(), { number: 8, source: 'logs' })
  chain.change(2, 1)
  assert.deepEqual(head(), { number: 5, source: 'file' })
  assert.equal(reader.blockAcceptedOnL1()?.number, 5)
})

test('once there are state updates, an upstream of layer 2 does not promote', async (t) => {
  const { chain, next, reader } = await openBoth(t)
  const upstream = new L2Writer(chain.db, { source: 'upstream' })
  store(upstream, [...L2_CHAIN.slice(0, 2), { ...L2_CHAIN[2], status: 'ACCEPTED_ON_L1' }])
  assert.equal(reader.blockAcceptedOnL1()?.number, 2)
  next.push(stateUpdateLog(4, L2_CHAIN[4].hash!))
  chain.change(0, 1)
  store(upstream, [L2_CHAIN[3], L2_CHAIN[4], { ...L2_CHAIN[5], status: 'ACCEPTED_ON_L1' }])
  assert.equal(reader.blockAcceptedOnL1()?.number, 4)
  chain.change(1, 1)
  assert.equal(reader.blockAcceptedOnL1()?.number, 2)
})

test('only logs of the core contract with the right shape count', async (t) => {
  const { chain, next, writer, reader, alarms } = await openBoth(t)
  store(writer, L2_CHAIN.slice(0, 9))
  const right = stateUpdateLog(8, L2_CHAIN[8].hash!)
  const elsewhere = stateUpdateLog(8, L2_CHAIN[8].hash!, new Uint8Array(20).fill(0xc1))
  next.push(
    elsewhere,
    { ...right, topics: [...right.topics, right.topics[0]] },
    { ...right, data: right.data.slice(32) },
  )
  next.push({ ...right, topics: [] }, stateUpdateLog(-1n, L2_CHAIN[8].hash!), stateUpdateLog(2n ** 60n, 8n))
  chain.change(0, 1)
  assert.equal(reader.blockAcceptedOnL1(), undefined)
  assert.deepEqual(alarms(), [])
})

test('state updates that were stored before are found when the contract is named, and again when another is', async (t) => {
  const other = new Uint8Array(20).fill(0xc2)
  const { datadir, chain, next, writer } = await openBoth(t, { isNamed: false })
  store(writer, L2_CHAIN.slice(0, 9))
  for (const number of [1, 3, 5]) {
    next.push(
      stateUpdateLog(number, L2_CHAIN[number].hash!),
      stateUpdateLog(number + 1, L2_CHAIN[number + 1].hash!, other),
    )
    chain.change(0, 1)
  }
  chain.close()
  const reopen = async (coreContract?: Uint8Array) => {
    const db = openForWriting(datadir)
    if (coreContract) nameCoreContract(db, coreContract)
    await openWritableChain(db, { genesis: BRANCHES_GENESIS }, 'none')
    const accepted = createL2Reader(db).blockAcceptedOnL1()?.number
    auditL2Finality(db, createRawL2(db), -1)
    db.close()
    return accepted
  }
  assert.equal(await reopen(), undefined)
  assert.equal(await reopen(CORE_CONTRACT), 5)
  assert.equal(await reopen(), 5)
  assert.equal(await reopen(other), 6)
  assert.equal(await reopen(), 6)
})

test('a known core contract raises no alarm about blocks of another layer 2 than its own', async (t) => {
  const { chain, writer } = await openBoth(t)
  const [address] = coreContractsOn(1n)
  const { log, lines } = keepLog()
  const update = { l1Block: 1, logIndex: 0, contract: address, number: 3, hash: new Uint8Array(32) }
  const report = reportMismatch(chain.db, log)
  report({ update, canonicalHash: 5n })
  writer.setNetwork('sepolia')
  report({ update, canonicalHash: 5n })
  assert.deepEqual(lines, [])
  const other = await openBoth(t)
  other.writer.setNetwork('mainnet')
  reportMismatch(other.chain.db, log)({ update, canonicalHash: 5n })
  assert.equal(lines.length, 1)
})

test('through random reorgs and arrivals in any order, exactly the blocks below the highest matching state update are accepted', async (t) => {
  for (const seed of [1, 2]) {
    const random = seededRandom(seed)
    const { chain, next, writer, reader, alarms } = await openBoth(t, { random })
    const missing = [...L2_CHAIN]
    const held = new Map<number, bigint>()
    const inventUpdates = () => {
      for (let i = random.below(3); i > 0; i--) {
        const block = L2_CHAIN[random.below(L2_CHAIN.length)]
        const hash = random.below(4) === 0 ? BigInt(random.below(1_000)) : block.hash!
        next.push(
          stateUpdateLog(block.number!, hash, random.below(5) === 0 ? new Uint8Array(20).fill(0xee) : undefined),
        )
      }
    }
    /** The highest held block that a log of the chain names, looked for in every log. */
    const expected = () => {
      let highest = -1
      for (const { address, data } of chain.blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))) {
        if (formatData(address) !== formatData(CORE_CONTRACT)) continue
        const [number, hash] = [1, 2].map((word) => BigInt(formatData(data.subarray(32 * word, 32 * word + 32))))
        if (held.get(Number(number)) === hash) highest = Math.max(highest, Number(number))
      }
      return highest
    }
    for (let step = 0; step < 80; step++) {
      const place = `seed ${seed}, step ${step}`
      if (random.below(3) === 0 && missing.length > 0) {
        const [block] = missing.splice(random.below(missing.length), 1)
        store(writer, [block])
        held.set(block.number!, block.hash!)
      } else {
        inventUpdates()
        chain.change(random.below(Math.min(6, chain.blocks.length)), random.below(4))
        next.length = 0
      }
      const highest = expected()
      assert.equal(reader.blockAcceptedOnL1()?.number ?? -1, highest, place)
      for (const [number] of held) {
        const status = number <= highest ? 'ACCEPTED_ON_L1' : 'ACCEPTED_ON_L2'
        assert.equal(reader.blockByNumber(number)!.status, status, place)
      }
    }
    auditL2Finality(chain.db, createRawL2(chain.db), -1)
    assert.ok(alarms().length > 0)
    chain.close()
  }
})

test('the core contracts of mainnet and Sepolia are known', () => {
  assert.deepEqual(coreContractsOn(1n).map(formatData), ['0xc662c410c0ecf747543f5ba90660f6abebd9c8c4'])
  assert.deepEqual(coreContractsOn(11_155_111n).map(formatData), [
    '0xe2bb56ee936fd6433dc0f6e7e3b8365c906aa057',
    '0x4737c0c1b4d5b1a687b42610ddabee781152359c',
  ])
  assert.deepEqual(coreContractsOn(17_000n), [])
})
