import {
  ALICE,
  BOB,
  CAROL,
  COUNTER,
  DELEGATOR,
  EMITTER,
  FACTORY,
  NOBODY,
  PROBE,
  REVERTER,
  TOKEN,
} from '../../test/support/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH, word } from './case.js'

/** Selectors of the fixture's contracts, keccak-256 of the signature. */
const SELECTOR = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  totalSupply: '0x18160ddd',
  balanceOf: '0x70a08231',
  transfer: '0xa9059cbb',
  failString: '0xf8f50b81',
  failPanic: '0xc66c9028',
  failCustom: '0x8791bd33',
  failEmpty: '0xbdd4ad32',
  failInvalid: '0x0cf6c214',
  spin: '0xf0acd7d5',
}

/** Call data: a selector and words. */
function encode(selector: string, ...words: (number | bigint | string)[]): string {
  return selector + words.map((value) => word(value).slice(2)).join('')
}

/** Cases of the methods that run contracts. */
export function callCases(hashes: FixtureHashes): CasesByMethod {
  const at = quantity
  const bobsBalance = { to: TOKEN, data: encode(SELECTOR.balanceOf, BOB) }
  const transfer = (from: string, amount: bigint) => ({
    from,
    to: TOKEN,
    data: encode(SELECTOR.transfer, CAROL, amount),
  })
  const failing = (selector: string) => ({ from: CAROL, to: REVERTER, data: selector })
  return {
    eth_call: {
      ...largeCases((large) => positional(bobsBalance, large)),
      'eip1898-large': positional(bobsBalance, { blockNumber: '0xffffffffffffffff' }),

      name: positional({ to: TOKEN, data: SELECTOR.name }, 'latest'),
      symbol: positional({ to: TOKEN, input: SELECTOR.symbol }, 'latest'),
      'balance-latest': positional(bobsBalance, 'latest'),
      'balance-default-block': positional(bobsBalance),
      'balance-before-transfer': positional(bobsBalance, at(21)),
      'balance-after-transfer': positional(bobsBalance, at(22)),
      'balance-by-hash': positional(bobsBalance, hashes.block(22)),
      'balance-eip1898': positional(bobsBalance, { blockHash: hashes.block(22) }),
      'balance-pending': positional(bobsBalance, 'pending'),
      'overrides-empty': positional(bobsBalance, 'latest', {}),
      'overrides-null': positional(bobsBalance, 'latest', null),
      'overrides-not-empty': positional(bobsBalance, 'latest', { [TOKEN]: { balance: '0x1' } }),
      'overrides-not-an-object': positional(bobsBalance, 'latest', 'none'),
      'too-many': positional(bobsBalance, 'latest', {}, {}),
      'before-deployment': positional(bobsBalance, at(14)),
      'delegated-code': positional({ to: DELEGATOR, data: SELECTOR.decimals }, at(45)),
      'delegation-taken-back': positional({ to: DELEGATOR, data: SELECTOR.decimals }, at(46)),
      'plain-transfer': positional({ from: ALICE, to: BOB, value: '0x1' }, 'latest'),
      'frontier-counter': positional({ to: COUNTER }, at(5)),
      'creation-returns-code': positional({ from: ALICE, data: '0x600160005260206000f3' }, 'latest'),
      'create2-address': positional({ to: FACTORY, data: word(11) }, 'latest'),
      'identity-precompile': positional({ to: `0x${'4'.padStart(40, '0')}`, data: '0x636169726e' }, 'latest'),
      'sha256-precompile': positional({ to: `0x${'2'.padStart(40, '0')}`, data: '0x' }, 'latest'),
      'cancun-opcodes': positional({ to: PROBE }, 'latest'),
      'revert-string': positional(failing(SELECTOR.failString), 'latest'),
      'revert-panic': positional(failing(SELECTOR.failPanic), 'latest'),
      'revert-custom': positional(failing(SELECTOR.failCustom), 'latest'),
      'revert-empty': positional(failing(SELECTOR.failEmpty), 'latest'),
      'revert-insufficient': positional(transfer(NOBODY, 1n), 'latest'),
      'invalid-opcode': positional(failing(SELECTOR.failInvalid), 'latest'),
      'out-of-gas': positional({ to: TOKEN, data: SELECTOR.name, gas: at(21_200) }, 'latest'),
      'gas-below-intrinsic': positional({ to: TOKEN, data: SELECTOR.name, gas: '0x1' }, 'latest'),
      'value-above-balance': positional({ from: NOBODY, to: BOB, value: '0x1' }, 'latest'),
      'beyond-head': positional(bobsBalance, at(61)),
      'unknown-hash': positional(bobsBalance, UNKNOWN_HASH),
      'data-and-input-differ': positional({ to: TOKEN, data: '0x01', input: '0x02' }, 'latest'),
      'other-chain': positional({ to: TOKEN, chainId: '0x1' }, 'latest'),
      'both-fee-kinds': positional({ to: TOKEN, gasPrice: '0x1', maxFeePerGas: '0x1' }, 'latest'),
      'short-address': positional({ to: '0x12' }, 'latest'),
      'odd-data': positional({ to: TOKEN, data: '0x123' }, 'latest'),
      'no-params': positional(),
    },
    eth_estimateGas: {
      ...largeCases((large) => positional({ to: BOB }, large)),

      'plain-transfer': positional({ from: ALICE, to: BOB, value: '0x1' }),
      'overrides-empty': positional({ from: ALICE, to: BOB, value: '0x1' }, 'latest', {}),
      'overrides-not-empty': positional({ to: BOB }, 'latest', { [ALICE]: { nonce: '0x1' } }),
      'token-transfer': positional(transfer(ALICE, 1n), 'latest'),
      'token-transfer-past': positional(transfer(ALICE, 1n), at(21)),
      creation: positional({ from: ALICE, data: '0x600160005260206000f3' }),
      'emit-hundred-logs': positional({ from: ALICE, to: EMITTER, data: encode('0x', 100, 4, 32, 0) }),
      'revert-insufficient': positional(transfer(NOBODY, 1n)),
      'revert-custom': positional(failing(SELECTOR.failCustom)),
      'gas-too-low': positional({ ...transfer(ALICE, 1n), gas: at(25_000) }),
      'value-above-balance': positional({ from: NOBODY, to: BOB, value: '0x1' }),
      'beyond-head': positional({ to: BOB }, at(61)),
      'no-params': positional(),
    },
  }
}
