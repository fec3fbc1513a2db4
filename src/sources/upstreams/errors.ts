import { CairnError } from '../../lib/errors.js'

/** A request to an upstream failed. Messages and fields contain no credentials; `upstream` is the redacted URL. */
export class UpstreamError extends CairnError {
  readonly upstream: string
  constructor(upstream: string, problem: string) {
    super(`${upstream}: ${problem}`)
    this.upstream = upstream
  }
}

/** No connection, or one that was cut before the response was whole. */
export class UpstreamUnreachable extends UpstreamError {}

/** No complete response in time. */
export class UpstreamTimeout extends UpstreamError {
  readonly timeoutMs: number
  constructor(upstream: string, timeoutMs: number) {
    super(upstream, `no whole response within ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** Too many requests: HTTP 429, 503 with Retry-After, or JSON-RPC -32005. */
export class UpstreamThrottled extends UpstreamError {
  /** What Retry-After asks for; undefined where it is absent or cannot be read. */
  readonly retryAfterMs?: number
  constructor(upstream: string, problem: string, retryAfterMs?: number) {
    super(upstream, `throttled: ${problem}`)
    this.retryAfterMs = retryAfterMs
  }
}

/** The response, or the request, is larger than one side allows: smaller batches help. */
export class UpstreamOversized extends UpstreamError {}

/** An HTTP status other than success; redirects are not followed. */
export class UpstreamHttpStatus extends UpstreamError {
  readonly status: number
  constructor(upstream: string, status: number) {
    super(upstream, `HTTP status ${status}${status >= 300 && status < 400 ? ', redirects are not followed' : ''}`)
    this.status = status
  }
}

/** A response that is not a JSON-RPC answer to the request: wrong content type, invalid JSON, missing or duplicate
 *  ids. */
export class MalformedAnswer extends UpstreamError {}

/** The upstream answers a batch with one error: it accepts single requests only. */
export class BatchesUnsupported extends UpstreamError {}

/** A JSON-RPC error that has no class of its own. */
export class UpstreamRpcError extends UpstreamError {
  readonly method: string
  readonly code: number
  constructor(upstream: string, method: string, code: number, message: string) {
    super(upstream, `${method}: error ${code}: ${message}`)
    this.method = method
    this.code = code
  }
}

/** The upstream does not have what was asked for. */
export class UpstreamLacksData extends UpstreamError {
  constructor(upstream: string, what: string, reason?: string) {
    super(upstream, `${what} is not available${reason === undefined ? '' : `: ${reason}`}`)
  }
}

/** The upstream cannot serve the state of a block: it has pruned it, does not have the block, or lacks the method. Not
 *  a failure of the upstream: others are asked. */
export class StateNotAtUpstream extends UpstreamLacksData {
  readonly blockNumber: number
  /** Why, as the upstream words it, or with what would help. */
  readonly reason: string
  constructor(upstream: string, { blockNumber, reason }: { blockNumber: number; reason: string }) {
    super(upstream, `the state of block ${blockNumber}`, reason)
    this.blockNumber = blockNumber
    this.reason = reason
  }
}

/** The upstream sent an invalid response. `check` is the short name of the rule that it breaks. */
export class UpstreamInvalidResponse extends UpstreamError {
  readonly check: string
  readonly blockNumber?: number
  readonly problem: string
  constructor(upstream: string, fields: { check: string; problem: string; blockNumber?: number }) {
    const { check, problem, blockNumber } = fields
    super(upstream, `${blockNumber === undefined ? '' : `block ${blockNumber}: `}${check}: ${problem}`)
    this.check = check
    this.problem = problem
    this.blockNumber = blockNumber
  }
}

/** The upstream is of another chain. */
export class WrongChain extends UpstreamError {
  readonly what: 'chain id' | 'genesis hash' | 'block hash'
  readonly expected: string
  readonly actual: string
  constructor(upstream: string, what: WrongChain['what'], expected: string, actual: string) {
    super(upstream, `${what}: expected ${expected} of this database, the upstream has ${actual}`)
    this.what = what
    this.expected = expected
    this.actual = actual
  }
}

/** `close` was called while something waited for an upstream, or before it was asked. */
export class UpstreamsClosed extends CairnError {
  constructor() {
    super('the upstreams were closed')
  }
}

/** The canonical block after the last yielded one has another parent: the chain forked at or below that one. */
export class ChainReorganized extends CairnError {
  /** Number of the block that does not link. */
  readonly blockNumber: number
  /** Hash of the block before it, as yielded or as passed in the range. */
  readonly expectedParent: Uint8Array
  constructor(blockNumber: number, expectedParent: Uint8Array) {
    super(`the upstream's block ${blockNumber} has another parent: the chain was reorganized`)
    this.blockNumber = blockNumber
    this.expectedParent = expectedParent
  }
}
