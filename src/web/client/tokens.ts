import { decodeFunctionResult, erc20Abi, hexToString } from 'viem'
import { callInBatch } from './rpc.js'
import { apiKey } from './session.js'
import type { Hex } from './types.js'

/** What a token says about itself. */
export interface TokenFacts {
  /** Undefined if the contract has none. */
  readonly symbol: string | undefined
  /** 0 to 255; undefined if the contract has none. */
  readonly decimals: number | undefined
}

const SYMBOL = '0x95d89b41'
const DECIMALS = '0x313ce567'

const known = new Map<string, Promise<TokenFacts>>()
apiKey.watch(() => known.clear())

/** Reads symbol and decimals of a token at the newest block, once per tab. Never rejects. */
export function readToken(token: string): Promise<TokenFacts> {
  let facts = known.get(token)
  if (facts === undefined) {
    facts = Promise.all([read(token, SYMBOL), read(token, DECIMALS)]).then(([symbol, decimals]) => ({
      symbol: symbol && decodeSymbol(symbol),
      decimals: decimals && decodeDecimals(decimals),
    }))
    known.set(token, facts)
  }
  return facts
}

function read(to: string, data: string): Promise<Hex | undefined> {
  return callInBatch<Hex>('eth_call', [{ to, data }, 'latest']).catch(() => undefined)
}

/** Decodes a string, or the bytes32 of early tokens. */
function decodeSymbol(data: Hex): string | undefined {
  try {
    const text =
      data.length === 66
        ? hexToString(data, { size: 32 })
        : decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data })
    return text === '' ? undefined : text
  } catch {
    return undefined
  }
}

function decodeDecimals(data: Hex): number | undefined {
  const value = data.length === 66 ? BigInt(data) : 256n
  return value < 256n ? Number(value) : undefined
}
