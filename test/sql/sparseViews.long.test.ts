import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { readNdjson } from '../support/chains/exportedFiles.js'
import { BLOCKS, importViewChain, writeViewChain } from '../support/chains/viewChain.js'
import { SPARSE_LIMITS } from '../support/compare/sparseAnswers.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilBlockNumber } from '../support/until.js'

/* The views of a database with sparse state, which a server fills while it follows, compared with those of a complete
 * one. */

const FIRST = 30
const HEAD = BLOCKS
const ZERO_WORD = `0x${'00'.repeat(32)}`

type Row = { [column: string]: unknown }

test('views and exports of sparse state have what a complete database has from its first block on', async (t) => {
  const folder = await writeViewChain(t, 4)
  const [complete, sparse] = [temporaryDirectory(t), temporaryDirectory(t)]
  await importViewChain(complete, folder)
  const upstream = await startCairn(t, ['--datadir', complete, '--open', ...SPARSE_LIMITS])
  const server = await startCairn(t, [
    ...['--datadir', sparse, '--open', '--genesis', join(folder, 'genesis.json'), '--state', 'sparse'],
    ...['--from', String(FIRST), '--upstream', upstream.url, ...SPARSE_LIMITS],
  ])
  await untilBlockNumber(server, HEAD)
  const [whole, known] = [complete, sparse].map((datadir) => {
    const db = openForQueries(datadir, () => [])
    t.after(() => void db.close())
    return (sql: string): Row[] => db.prepare<[], Row>(sql).all()
  })

  const changes = (from: number) =>
    `SELECT * FROM v_account_changes WHERE block_number > ${from} ORDER BY block_number, address`
  const wanted = whole(changes(FIRST))
  assert.ok(wanted.length > 100)
  assert.deepEqual(known(changes(0)), wanted)

  // A range that began before the first block begins with it.
  const clipped = (view: string, from: string) =>
    whole(`SELECT * FROM ${view} WHERE ifnull(to_block, ${HEAD}) >= ${FIRST}`).map((row) =>
      Number(row[from]) < FIRST ? { ...row, [from]: FIRST } : row,
    )
  const texts = (rows: readonly Row[]) => new Set(rows.map((row) => JSON.stringify(row)))
  const balances = known('SELECT * FROM v_balances')
  const addresses = new Set(balances.map(({ address }) => address))
  const ofKnown = clipped('v_balances', 'from_block').filter(({ address }) => addresses.has(address))
  // A base row says that an account does not exist, where a complete database has no row.
  const isNone = ({ from_block, balance }: Row) => from_block === FIRST && balance === '0'
  assert.deepEqual(texts(balances.filter((row) => !isNone(row))), texts(ofKnown.filter((row) => !isNone(row))))
  const slots = known('SELECT * FROM v_storage').filter(({ value }) => value !== ZERO_WORD)
  assert.ok(slots.length > 20)
  const allSlots = texts(clipped('v_storage', 'from_block'))
  for (const slot of texts(slots)) assert.ok(allSlots.has(slot), slot)

  for (const dataset of ['balances', 'nonces', 'codes', 'slots', 'nonce-diffs']) {
    const terms = [dataset, '--blocks', `${FIRST + 1}:`, '--format', 'ndjson', '--out', '-', '--datadir']
    const [own, all] = await Promise.all([sparse, complete].map((datadir) => runCairnOk(['export', ...terms, datadir])))
    assert.deepEqual(readNdjson(own), readNdjson(all), dataset)
    if (dataset !== 'codes') assert.ok(readNdjson(own).length > 10, dataset) // few delegations of this seed are applied
  }
})
