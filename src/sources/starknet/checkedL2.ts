import { type Field, felt, InvalidL2Recording, member, safeInteger } from '../../chain/starknet/recording/fields.js'
import { readL2Recording } from '../../chain/starknet/recording/recording.js'
import { parseJsonExact } from '../../lib/json.js'
import { UpstreamInvalidResponse } from '../upstreams/errors.js'
import type { Upstream } from '../upstreams/upstream.js'
import type { L2BlockRef, L2Fetched } from './types.js'

/** Returns what `read` returns. @throws UpstreamInvalidResponse, which names the field and the upstream, when reading
 *  fails. */
export function checkedL2<T>(upstream: Upstream, blockNumber: number | undefined, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidL2Recording)) throw error
    throw lieOf(upstream, blockNumber, 'format', error.message)
  }
}

/** Creates an UpstreamInvalidResponse without credentials in its problem. */
export function lieOf(
  upstream: Upstream,
  blockNumber: number | undefined,
  check: string,
  problem: string,
): UpstreamInvalidResponse {
  return new UpstreamInvalidResponse(upstream.name, { check, problem: upstream.redact(problem), blockNumber })
}

/** Reads the block of a recording. @throws UpstreamInvalidResponse */
export function readFetched(upstream: Upstream, json: unknown, blockNumber?: number): L2Fetched {
  return { block: checkedL2(upstream, blockNumber, () => readL2Recording(json)), json }
}

/** Reads `block_number` and `block_hash` of a block. @throws InvalidL2Recording */
export function readRef(json: unknown, path: string): L2BlockRef {
  const field: Field = { value: json, path }
  return { number: safeInteger(member(field, 'block_number')), hash: felt(member(field, 'block_hash')) }
}

/** Parses JSON of an upstream. @throws SyntaxError, JsonTooDeep */
export const parseL2Json: (text: string) => unknown = parseJsonExact
