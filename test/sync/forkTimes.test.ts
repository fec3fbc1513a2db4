import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../../src/lib/errors.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { createGenesis } from '../support/chains/genesisChain.js'
import { temporaryDirectory } from '../support/temporary.js'

const GENESIS_TIME = 100

test('times of forks that are set stay in the database, open readers follow them, and none changes that a block has reached', async (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => db.close())
  const cancun = createGenesis({}, { forks: 'cancun' }) as { config: object }
  const genesis = { ...cancun, config: { ...cancun.config, pragueTime: 0 }, timestamp: GENESIS_TIME }
  const source = { genesis }
  const open = (forkTimes?: object) => openWritableChain(db, source, 'execute', { forkTimes })
  const forkAt = async (time: bigint, forkTimes?: object) => {
    const { spec } = (await open(forkTimes)).reader
    return spec().activations.findLast(({ timestamp }) => timestamp !== undefined && timestamp <= time)?.fork
  }
  assert.equal(await forkAt(200n, { osaka: 150 }), 'osaka')
  assert.equal(await forkAt(200n), 'osaka')
  const other = openForReading(datadir)
  t.after(() => other.close())
  const reader = createChainReader(other)
  assert.equal(reader.spec().activations.at(-1)!.timestamp, 150n)
  assert.equal(await forkAt(200n, { osaka: 300, amsterdam: 400 }), 'prague')
  assert.deepEqual(
    reader
      .spec()
      .activations.slice(-2)
      .map(({ timestamp }) => timestamp),
    [300n, 400n],
  )
  assert.equal(await forkAt(500n, { amsterdam: null }), 'osaka')
  for (const [times, message] of [
    [
      { osaka: GENESIS_TIME },
      /--fork osaka=100: the blocks from time 100 on were checked with osaka at 300; .*cairn rewind/,
    ],
    [{ prague: 300 }, /--fork prague=300: the blocks from time 0 on were checked with prague at 0/],
    [{ prague: null }, /--fork prague=never: /],
  ] as const) {
    await assert.rejects(open(times), (error) => error instanceof UsageError && message.test(error.message))
  }
  assert.equal(await forkAt(500n, { prague: 0 }), 'osaka')
})
