import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openForReading, packagePath } from '../../src/store/open.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { type RecordedAnswer, readRecordings } from '../support/chains/recordings.js'
import { compareAnswers } from '../support/compare/compareAnswers.js'
import { send } from '../support/rpcClient.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `--evm reference`: the interpreter of @ethereumjs in the place of ours, to the same ends. */

const REFERENCE = ['--evm', 'reference']

/** Imports a chain's folder by that interpreter: the directory of the database. */
async function importChain(folder: string, options: string[] = []): Promise<string> {
  const datadir = temporaryDirectory({ after })
  const genesis = ['--genesis', join(folder, 'genesis.json')]
  await runCairnOk(['import', '--datadir', datadir, ...options, ...genesis, join(folder, 'chain.rlp')])
  return datadir
}

/** All rows of what execution makes. */
function executedRows(datadir: string): { [table: string]: unknown[] } {
  const db = openForReading(datadir)
  try {
    const rows = (table: string, order: string) => db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all()
    return {
      v_receipts: rows('v_receipts', 'block_number, transaction_index'),
      v_logs: rows('v_logs', 'block_number, log_index'),
      accounts: db
        .prepare(
          `SELECT a.address, h.block_number, h.nonce, h.balance, h.incarnation, c.hash
           FROM account_history h JOIN addresses a ON a.id = h.address_id LEFT JOIN code c ON c.id = h.code_id
           ORDER BY a.address, h.block_number`,
        )
        .all(),
      storage: db
        .prepare(
          `SELECT a.address, h.incarnation, h.slot, h.block_number, h.value
           FROM storage_history h JOIN addresses a ON a.id = h.address_id
           ORDER BY a.address, h.incarnation, h.slot, h.block_number`,
        )
        .all(),
      code: rows('code', 'hash').map((row) => ({ ...(row as object), id: undefined })),
    }
  } finally {
    db.close()
  }
}

const bundled = packagePath('fixtures/chain')
const imported = await importChain(bundled, REFERENCE)

test('the bundled chain comes to the same rows as by our interpreter', async () => {
  const own = executedRows(await importChain(bundled))
  for (const [table, rows] of Object.entries(executedRows(imported))) {
    assert.ok(rows.length > 5, table)
    assert.deepEqual(own[table], rows, table)
  }
})

/** The message as the reference interpreter has it: without details of the instruction. */
function inReferenceWords(message: string): string {
  return message
    .replace(/^invalid opcode: .*$/, 'invalid opcode: INVALID')
    .replace(/^(max code size exceeded): .*$/, '$1')
    .replace(/^(stack \w+) \(.*\)$/, '$1')
}

test('calls are answered as recorded', async (t) => {
  const server = await startCairn(t, ['--open', '--datadir', imported, ...REFERENCE])
  const folder = packagePath('fixtures/rpc')
  for (const method of ['eth_call', 'eth_estimateGas']) {
    for (const file of readdirSync(join(folder, method))) {
      const { request, response } = JSON.parse(readFileSync(join(folder, method, file), 'utf8'))
      const answer = (await send(server.url, request)) as RecordedAnswer
      if (response.error) response.error.message = inReferenceWords(response.error.message)
      assert.deepEqual(compareAnswers(response, answer, { messages: true }), [], file)
    }
  }
})

const suite = sharedPath('conformance', 'execution-apis')

test('the official chain and its calls come out the same', { skip: SKIP_SHARED }, async (t) => {
  const datadir = await importChain(suite!, REFERENCE)
  assert.deepEqual(executedRows(await importChain(suite!)), executedRows(datadir))
  const server = await startCairn(t, ['--open', '--datadir', datadir, ...REFERENCE])
  for (const method of ['eth_call', 'eth_estimateGas']) {
    for (const { name, kindOnly, exchanges } of readRecordings(suite!, method)) {
      for (const { request, expected } of exchanges) {
        const answer = (await send(server.url, request)) as RecordedAnswer
        assert.deepEqual(compareAnswers(expected, answer, { kindOnly }), [], name)
      }
    }
  }
})

test('another name is refused', async () => {
  const { code, stderr } = await runCairn(['serve', '--evm', 'fast'])
  assert.equal(code, 2)
  assert.match(stderr, /--evm: expected cairn, reference, got "fast"/)
})
