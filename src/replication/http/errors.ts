import { CairnError } from '../../lib/errors.js'

/** A server refuses to replicate: because of the key or the options, or because it has another chain. */
export class ReplicationRefused extends CairnError {
  /** Status of the response; undefined when the first frame is refused here. */
  readonly status: number | undefined
  constructor(server: string, status: number | undefined, reason: string) {
    super(`${server}: ${status === undefined ? '' : `HTTP ${status}: `}${reason}`)
    this.status = status
  }
}

/** A server does not have what a replica needs next any more. */
export class ReplicationGone extends CairnError {
  constructor(server: string, reason: string) {
    super(`${server}: ${reason}`)
  }
}
