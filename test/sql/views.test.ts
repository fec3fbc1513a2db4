import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { recoverAuthorizationAddress } from 'viem/utils'
import type { Database } from '../../src/store/database.js'
import { createMetaTable, META_CLOSED_STATES, META_STATE_FIRST, META_STATE_MODE } from '../../src/store/meta.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { CATALOGUE_QUERY, openForQueries } from '../../src/store/sql/queryDatabase.js'
import { HISTORY_TABLES } from '../../src/store/state/historySql.js'
import {
  BALANCE_KNOWN,
  baseIncarnation,
  partialIncarnation,
  UNKNOWN_ACCOUNT,
} from '../../src/store/state/sparseState.js'
import { importViewChain, writeViewChain } from '../support/chains/viewChain.js'
import { type Account, type Answers, askChains, type Hex, type Signed } from '../support/compare/stateOracle.js'
import { endOfFile } from '../support/endings.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* The views of bodies and of the state, compared with what the methods answer of the same database. */

const chains: { [name: string]: Answers } = {}
const ending = endOfFile()

before(
  async () =>
    void Object.assign(
      chains,
      await askChains(ending, THOROUGH ? { 'random 1': 1, 'random 2': 2 } : { 'random 1': 1 }),
    ),
)

const all = (db: Database, sql: string) => db.prepare<[], { [column: string]: unknown }>(sql).all()

const each = (name: string, run: (answers: Answers) => void | Promise<void>) =>
  test(name, async () => {
    for (const answers of Object.values(chains)) await run(answers)
  })

each('v_withdrawals has the withdrawals of the blocks', ({ db, blocks }) => {
  const wanted = blocks.flatMap(({ number, timestamp, withdrawals = [] }) =>
    withdrawals.map(({ index, validatorIndex, address, amount }) => ({
      block_number: Number(number),
      timestamp: Number(timestamp),
      withdrawal_index: Number(index),
      validator_index: Number(validatorIndex),
      address,
      amount: `${BigInt(amount) * 10n ** 9n}`,
      amount_eth: Number(BigInt(amount) * 10n ** 9n) / 1e18,
    })),
  )
  assert.ok(wanted.length > 3)
  assert.deepEqual(all(db, 'SELECT * FROM v_withdrawals'), wanted)
})

/** The place of each transaction of a chain. */
function* places({ blocks }: Answers) {
  for (const { number, timestamp, transactions } of blocks) {
    for (const [index, transaction] of transactions.entries()) {
      const place = { block_number: Number(number), timestamp: Number(timestamp), transaction_index: index }
      yield { transaction, place: { ...place, transaction_hash: transaction.hash } }
    }
  }
}

each('v_authorizations has the authorizations with their signers', async (answers) => {
  const wanted: object[] = []
  for (const { transaction, place } of places(answers)) {
    for (const [index, each] of (transaction.authorizationList ?? []).entries()) {
      const { chainId, address, nonce } = each
      wanted.push({
        ...place,
        authorization_index: index,
        authority: await signerOf(each),
        delegate: address,
        chain_id: `${BigInt(chainId)}`,
        nonce: BigInt(nonce) < 2n ** 53n ? Number(nonce) : `${BigInt(nonce)}`,
      })
    }
  }
  assert.ok(wanted.length > 2)
  assert.deepEqual(all(answers.db, 'SELECT * FROM v_authorizations'), wanted)
})

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The signer by viem, which accepts signatures that EIP-7702 does not. */
async function signerOf({ chainId, address, nonce, yParity, r, s }: Signed): Promise<string | null> {
  if (BigInt(yParity) > 1n || BigInt(s) > HALF_ORDER) return null
  const word = (value: Hex): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`
  const authorization = { chainId: Number(chainId), address, nonce: BigInt(nonce) as unknown as number }
  const signature = { yParity: Number(yParity), r: word(r), s: word(s) }
  return recoverAuthorizationAddress({ authorization, signature }).then(
    (signer) => signer.toLowerCase(),
    () => null,
  )
}

test('the random chains have invalid and valid authorizations', () => {
  for (const name of Object.keys(chains).filter((each) => each !== 'fixture')) {
    const [{ valid, invalid }] = all(
      chains[name].db,
      'SELECT count(authority) AS valid, sum(authority IS NULL) AS invalid FROM v_authorizations',
    )
    assert.ok(Number(valid) > 3 && Number(invalid) > 3, `${valid} ${invalid}`)
  }
})

each('v_access_lists has a row for each slot, and one for an address without slots', (answers) => {
  const wanted = [...places(answers)].flatMap(({ transaction: { accessList = [] }, place }) =>
    accessList.flatMap(({ address, storageKeys }) =>
      (storageKeys.length === 0 ? [null] : storageKeys).map((slot) => ({ ...place, address, slot })),
    ),
  )
  assert.ok(wanted.length > 2)
  assert.deepEqual(all(answers.db, 'SELECT * FROM v_access_lists'), wanted)
})

/** Ranges of equal values: the first and the last block of each; null while current. */
function rangesOf(values: readonly string[]): { from_block: number; to_block: number | null; value: string }[] {
  const starts = values.flatMap((value, block) => (value === values[block - 1] ? [] : [block]))
  return starts.map((from, i) => ({
    from_block: from,
    to_block: i + 1 < starts.length ? starts[i + 1] - 1 : null,
    value: values[from],
  }))
}

each('v_balances has the ranges of blocks in which a balance holds', ({ db, accounts }) => {
  for (const [address, values] of accounts) {
    const ranges = rangesOf(values.map(({ balance }) => balance))
    const rows = all(
      db,
      `SELECT from_block, to_block, balance AS value FROM v_balances WHERE address = '${address}' ORDER BY from_block`,
    )
    // An account may exist, or have existed, with a balance of 0; before its first row it has none.
    if (rows[0]?.from_block !== 0) {
      const [first, ...later] = ranges
      const start = rows[0]?.from_block as number | undefined
      const rest = start === undefined || first.to_block === start - 1 ? [] : [{ ...first, from_block: start }]
      assert.equal(first.value, '0', address)
      assert.deepEqual(rows, [...rest, ...later], address)
    } else assert.deepEqual(rows, ranges, address)
  }
  assert.ok(all(db, 'SELECT * FROM v_balances').length > 100)
})

each('v_storage has the ranges of blocks in which a slot has a value', ({ db, slots }) => {
  const ZERO = `0x${'00'.repeat(32)}`
  let rows = 0
  for (const [place, values] of slots) {
    const [address, slot] = place.split(' ')
    const found = all(
      db,
      `SELECT from_block, to_block, value FROM v_storage WHERE address = '${address}' AND slot = '${slot}' ORDER BY from_block`,
    )
    rows += found.length
    const held = values.map(() => ZERO)
    for (const { from_block, to_block, value } of found) {
      for (let block = Number(from_block); block <= Number(to_block ?? values.length - 1); block++) {
        assert.equal(held[block], ZERO, `${place} has two values at ${block}`)
        held[block] = String(value)
      }
    }
    assert.deepEqual(held, values, place)
    const nonZero = (ranges: { [column: string]: unknown }[]) => ranges.filter(({ value }) => value !== ZERO)
    assert.deepEqual(nonZero(found), nonZero(rangesOf(values)), place)
  }
  assert.ok(rows > 50)
  assert.equal(all(db, 'SELECT * FROM v_storage').length, rows)
})

each('v_account_changes has each account that differs before and after a block', ({ db, accounts }) => {
  const none: Account = { balance: '0', nonce: 0, code: '0x', codeHash: null }
  const wanted = [...accounts].flatMap(([address, states]) =>
    states.flatMap((now, block) => {
      const earlier = states[block - 1] ?? none
      if (JSON.stringify(earlier) === JSON.stringify(now)) return []
      const balances = { balance_before: earlier.balance, balance_after: now.balance }
      const nonces = { nonce_before: earlier.nonce, nonce_after: now.nonce }
      const codes = { code_hash_before: earlier.codeHash, code_hash_after: now.codeHash }
      return [{ block_number: block, address, ...balances, ...nonces, ...codes }]
    }),
  )
  const rows = all(db, 'SELECT * FROM v_account_changes ORDER BY block_number, address')
  const ofPlace = (a: { [column: string]: unknown }, b: { [column: string]: unknown }) =>
    Number(a.block_number) - Number(b.block_number) || (String(a.address) < String(b.address) ? -1 : 1)
  assert.ok(wanted.length > 100)
  assert.deepEqual(rows, wanted.sort(ofPlace))
  // The same rows by address, by block and by range.
  for (const address of accounts.keys()) {
    assert.deepEqual(
      all(db, `SELECT * FROM v_account_changes WHERE address = '${address}' ORDER BY block_number`),
      rows.filter((row) => row.address === address),
    )
  }
  const inRange = rows.filter(({ block_number }) => Number(block_number) >= 7 && Number(block_number) <= 21)
  const range = 'SELECT * FROM v_account_changes WHERE block_number BETWEEN 7 AND 21 ORDER BY block_number, address'
  assert.deepEqual(all(db, range), inRange)
})

each('v_accounts has the first and the last change of each account, and what it has now', ({ db, accounts }) => {
  const changes = all(
    db,
    'SELECT address, min(block_number) AS first, max(block_number) AS last FROM v_account_changes GROUP BY address',
  )
  const wanted = changes.map(({ address, first, last }) => {
    const { balance, nonce, codeHash } = accounts.get(String(address))!.at(-1)!
    return { address, first_block: first, last_block: last, balance, nonce, code_hash: codeHash }
  })
  assert.ok(wanted.length > 10)
  assert.deepEqual(all(db, 'SELECT * FROM v_accounts ORDER BY address'), wanted)
  const [, { address }] = wanted
  assert.deepEqual(all(db, `SELECT * FROM v_accounts WHERE address = '${address}'`), [wanted[1]])
})

const STATE_VIEWS = ['v_accounts', 'v_balances', 'v_storage', 'v_account_changes']

each('conditions on the address select the same rows, however they are written', ({ db, addresses }) => {
  const [first, second] = addresses.slice(1)
  for (const view of STATE_VIEWS) {
    const count = (where: string) => all(db, `SELECT count(*) AS n FROM ${view} WHERE ${where}`)[0].n
    const rows = all(db, `SELECT address FROM ${view}`)
    const of = (...wanted: string[]) => rows.filter(({ address }) => wanted.includes(String(address))).length
    assert.equal(count(`address = '${first}'`), of(first))
    assert.equal(count(`'${first}' = address`), of(first))
    assert.equal(count(`address = lower('${first.toUpperCase().replace('0X', '0x')}')`), of(first))
    assert.equal(count(`address IN ('${first}', '${second}')`), of(first, second))
    assert.equal(count(`address <> '${first}'`), rows.length - of(first))
    assert.equal(count(`address LIKE '${first.slice(0, 12)}%'`), of(first))
    assert.equal(count("address IS NULL OR address = '0x' OR address = 'abc' OR address = 7"), 0)
    for (const none of ["'0x'", "'abc'", '7', 'NULL', `'${first.toUpperCase()}'`])
      assert.equal(count(`address = ${none}`), 0)
    const [{ n }] = all(db, `SELECT count(*) AS n FROM ${view} x JOIN ${view} y USING (address)`)
    assert.equal(
      n,
      addresses.reduce((sum, address) => sum + of(address) ** 2, 0),
    )
  }
})

/** The steps of a plan that read rows of tables, without those of subqueries in expressions. */
function planOf(db: Database, sql: string): string[] {
  const steps = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()
  return steps.map(({ detail }) => detail)
}

test('an address and a range of blocks are found by keys', () => {
  const { db, addresses } = chains.fixture
  const address = `address = '${addresses[1]}'`
  const byAddress = 'SEARCH a USING COVERING INDEX addresses_by_address (address=?)'
  const expected: { [query: string]: string[] } = {
    [`v_accounts WHERE ${address}`]: [byAddress],
    [`v_balances WHERE ${address}`]: [
      byAddress,
      'SEARCH h USING PRIMARY KEY (address_id=? AND block_number>? AND block_number<?)',
    ],
    [`v_balances WHERE ${address} AND from_block <= 7`]: [
      byAddress,
      'SEARCH h USING PRIMARY KEY (address_id=? AND block_number>? AND block_number<?)',
    ],
    [`v_storage WHERE ${address}`]: [byAddress, 'SEARCH h USING PRIMARY KEY (address_id=?)'],
    [`v_account_changes WHERE ${address}`]: [
      byAddress,
      'SEARCH h USING PRIMARY KEY (address_id=? AND block_number>? AND block_number<?)',
      'SEARCH k USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
    ],
    'v_account_changes WHERE block_number = 7': [
      'SEARCH k USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH a USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH h USING PRIMARY KEY (address_id=? AND block_number>? AND block_number<?)',
    ],
    'v_account_changes WHERE block_number BETWEEN 7 AND 9': [
      'SEARCH k USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
      'SEARCH a USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH h USING PRIMARY KEY (address_id=? AND block_number>? AND block_number<?)',
    ],
    'v_reverts WHERE block_number BETWEEN 7 AND 9': [
      'SEARCH b USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
      'SEARCH t USING INTEGER PRIMARY KEY (rowid=?)', // by the receipts of the range
    ],
    ...Object.fromEntries(
      ['v_withdrawals', 'v_authorizations', 'v_access_lists', 'v_calls'].map((view) => [
        `${view} WHERE block_number BETWEEN 7 AND 9`,
        [
          'SEARCH b USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
          ...(view === 'v_withdrawals' ? [] : ['SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']),
        ],
      ]),
    ),
  }
  for (const [query, wanted] of Object.entries(expected)) {
    const steps = planOf(db, `SELECT * FROM ${query}`)
    // Of all tables of a history: the views of the state have all steps several times.
    const keyed = steps.filter((step) => /^SEARCH [abhkt] USING/.test(step))
    const times = /v_balances|v_storage|v_account_/.test(query) ? HISTORY_TABLES.length / 2 : 1
    assert.deepEqual(keyed, Array.from({ length: times }, () => wanted).flat(), query)
    assert.doesNotMatch(steps.join('\n'), /AUTOMATIC|SCAN [abhkt]$/m, query)
  }
})

test('no condition on a column of a view has SQLite make an index of a table', () => {
  const { db } = chains.fixture
  const columns = db.prepare<[], { name: string; column: string }>(CATALOGUE_QUERY).all()
  const ofViews = columns.filter(({ name }) => /^v_(?!l2)/.test(name) && name !== 'v_blocks')
  assert.ok(new Set(ofViews.map(({ name }) => name)).size > 10)
  for (const { name, column } of ofViews) {
    const range = columns.some((each) => each.name === name && each.column === 'block_number')
    const condition = range ? 'AND block_number BETWEEN 7 AND 9' : ''
    const steps = planOf(db, `SELECT * FROM ${name} WHERE "${column}" = 1 ${condition}`)
    assert.doesNotMatch(steps.join('\n'), /AUTOMATIC/, `${name}.${column}`)
  }
})

test('a query of all changes reads the blocks in turn, and not all rows of the history for each', () => {
  const steps = planOf(chains.fixture.db, 'SELECT * FROM v_account_changes')
  assert.deepEqual(
    steps.filter((step) => /^SCAN [ahk]$/.test(step)),
    HISTORY_TABLES.filter((table) => table.startsWith('account_')).map(() => 'SCAN k'),
  )
  assert.doesNotMatch(steps.join('\n'), /AUTOMATIC/)
})

/** The view chain with other facts and rows of its state. */
async function rewrittenState(t: TestContext, facts: { [key: string]: unknown }, insert = ''): Promise<Database> {
  const datadir = temporaryDirectory(t)
  await importViewChain(datadir, await writeViewChain(t, 3))
  const writer = openForWriting(datadir)
  for (const table of [...HISTORY_TABLES, 'changed_keys']) writer.exec(`DELETE FROM ${table}`)
  for (const [key, value] of Object.entries(facts)) createMetaTable(writer).set(key, value)
  writer.exec(insert)
  writer.close()
  const db = openForQueries(datadir, () => [])
  t.after(() => void db.close())
  return db
}

test('without state, the views of the state say that it is missing', async (t) => {
  const empty = temporaryDirectory(t)
  openForWriting(empty).close()
  const ofEmpty = openForQueries(empty, () => [])
  t.after(() => void ofEmpty.close())
  for (const db of [await rewrittenState(t, { [META_STATE_MODE]: 'none' }), ofEmpty]) {
    for (const view of STATE_VIEWS) {
      for (const where of ['', " WHERE address = '0x12'"]) {
        assert.throws(
          () => db.prepare(`SELECT * FROM ${view}${where}`).all(),
          /^(Error: )?the database has no state, because its blocks were imported with --state none/,
          view + where,
        )
      }
    }
    assert.deepEqual(all(db, 'SELECT * FROM v_access_lists WHERE block_number < 0'), [])
  }
})

test('ranges of sparse state end with their interval of states, and where a field is not known', async (t) => {
  const closed = baseIncarnation(1, true)
  const balanceKnown = partialIncarnation(BALANCE_KNOWN)
  const facts = {
    [META_STATE_MODE]: 'sparse',
    [META_STATE_FIRST]: 25,
    [META_CLOSED_STATES]: [{ first: 5, last: 15 }],
  }
  // Account 1 has a storage in both intervals, account 2 is not known in the second one until an access list names
  // its balance.
  const db = await rewrittenState(
    t,
    facts,
    `INSERT INTO account_history (address_id, block_number, nonce, balance, code_id, incarnation) VALUES
       (1, 5, 1, 100, NULL, 0), (1, 8, 2, 100, NULL, 0), (1, 9, 2, 90, NULL, 0),
       (1, 25, 7, 90, NULL, ${closed}), (1, 27, 7, 80, NULL, ${closed}),
       (2, 5, 0, 7, NULL, 1), (2, 25, 0, NULL, NULL, ${UNKNOWN_ACCOUNT}), (2, 26, 0, 9, NULL, ${balanceKnown});
     INSERT INTO storage_history (address_id, incarnation, slot, block_number, value) VALUES
       (1, 0, X'', 5, X'01'), (1, 0, X'', 8, X'02'), (1, ${closed}, X'', 25, X'03');
     INSERT INTO changed_keys (block_number, accounts, slots) VALUES
       (8, X'0101', X''), (9, X'0101', X''), (26, X'0102', X''), (27, X'0101', X'')`,
  )
  const [a, b] = db.prepare<[], string>('SELECT cairn_address(address) FROM addresses WHERE id < 3').pluck().all()
  const rows = (sql: string) => db.prepare<[], unknown[]>(sql).raw().all()
  assert.deepEqual(rows(`SELECT * FROM v_balances ORDER BY address = '${b}', from_block`), [
    [a, 5, 8, '100'],
    [a, 9, 15, '90'],
    [a, 25, 26, '90'],
    [a, 27, null, '80'],
    [b, 5, 15, '7'],
    [b, 26, null, '9'],
  ])
  const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
  assert.deepEqual(rows('SELECT address, slot, from_block, to_block, value FROM v_storage ORDER BY from_block'), [
    [a, word(0), 5, 7, word(1)],
    [a, word(0), 8, 15, word(2)],
    [a, word(0), 25, null, word(3)],
  ])
  const columns = 'block_number, address, balance_before, balance_after, nonce_before, nonce_after'
  assert.deepEqual(rows(`SELECT ${columns} FROM v_account_changes ORDER BY block_number`), [
    [8, a, '100', '100', 1, 2],
    [9, a, '100', '90', 2, 2],
    [26, b, null, '9', null, null],
    [27, a, '90', '80', 7, 7],
  ])
})
