import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { builtInSpec } from '../../../src/chain/eth/genesis.js'
import type { Header, Transaction } from '../../../src/chain/eth/types.js'
import { checkAgainst } from '../../../src/evm/transition/checkTransaction.js'
import { seededRandom } from '../../support/random.js'

test('a sender must be able to pay all gas, the value and what is due beside the gas', () => {
  const random = seededRandom(34)
  const rules = rulesAt(builtInSpec('base'), 1, 1_700_000_000n)
  const header = { gasLimit: 30_000_000n, baseFeePerGas: 1n } as Header
  const used = { execution: 0n, state: 0n }
  for (let i = 0; i < 200; i++) {
    const [gasLimit, gasPrice, value, addedWei] = [30_000_000, 1_000, 1_000_000, 3].map((most) =>
      BigInt(1 + random.below(most)),
    )
    const transaction = { type: 0, nonce: 7n, gasLimit, gasPrice, value } as Transaction
    const check = (balance: bigint) =>
      checkAgainst({ nonce: 7n, balance, hasCode: false }, transaction, { header, rules, used, addedWei })
    const enough = gasLimit * gasPrice + value + addedWei
    assert.equal(check(enough), undefined)
    assert.equal(check(enough - 1n)?.rule, 'funds')
  }
})
