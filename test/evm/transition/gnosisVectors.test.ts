import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseGenesis } from '../../../src/chain/eth/genesis.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { formatData } from '../../../src/lib/hex.js'
import { decodePayload } from '../../../src/sync/engine/payload.js'
import { createBlockRunner } from '../../support/chains/blockRunner.js'

/* Blocks that Nethermind made on a genesis with the contracts of Chiado, from the tests of reth_gnosis: withdrawals,
 * blobs and fees, in the folder RETH_GNOSIS_VECTORS, `scripts` of github.com/gnosischain/reth_gnosis. */

const FOLDER = process.env.RETH_GNOSIS_VECTORS
const skip =
  (FOLDER === undefined || !existsSync(FOLDER)) && 'no folder RETH_GNOSIS_VECTORS with the test vectors of reth_gnosis'

/** Of all blocks with blobs (its apply_test_vectors.sh). */
const BEACON_ROOT = `0x11${'00'.repeat(31)}`

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(FOLDER!, ...path), 'utf8'))
const folders = skip ? [] : readdirSync(FOLDER!).filter((name) => /(^|_)blocks(_|$)/.test(name))

test('blocks that Nethermind made for tests of reth_gnosis are there', { skip }, () => assert.ok(folders.length >= 5))

for (const folder of folders) {
  test(`${folder} of reth_gnosis have the roots that execution computes`, async (t) => {
    const genesis = parseGenesis(readJson('chiado_genesis_alloc.json'))
    // The chain lacks the contracts of requests (EIP-7002, 7251).
    const development = { ...genesis, spec: { ...genesis.spec, isDevelopment: true } }
    const runner = createBlockRunner(development, createForkTables(await loadKzgVerifier()))
    const files = readdirSync(join(FOLDER!, folder)).filter((name) => name.startsWith('block_'))
    for (const file of files.sort()) {
      const payload = readJson(folder, file)
      const hasBlobs = payload.blobGasUsed !== undefined
      const isPrague = Number(payload.timestamp) >= readJson('chiado_genesis_alloc.json').config.pragueTime
      const params = {
        payload,
        ...(hasBlobs && { parentBeaconBlockRoot: BEACON_ROOT }),
        ...(hasBlobs && { versionedHashes: readJson(folder, file.replace('block', 'versioned_hash')) }),
        ...(isPrague && { requests: [] }),
      }
      const { block } = decodePayload(params).raw
      assert.equal(runner.run(block), undefined, `${file}: ${formatData(block.hash)}`)
      t.diagnostic(`${block.transactions.length} transactions, ${block.withdrawals?.length ?? 0} withdrawals`)
    }
  })
}
