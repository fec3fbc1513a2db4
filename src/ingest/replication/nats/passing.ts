import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { CairnError, messageOf } from '../../../lib/errors.js'

/** True for what the network, a server or the cluster does, after which an attempt can succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof CairnError) return false
  if (error instanceof JetStreamError || error instanceof JetStreamApiError) return true
  if (NETWORK.some((kind) => error instanceof kind)) return true
  if (error instanceof Error && error.name === 'JetStreamNotEnabled') return true
  return typeof (error as NodeJS.ErrnoException | null)?.code === 'string'
}

const NETWORK = [
  ...[errors.ConnectionError, errors.RequestError, errors.NoRespondersError, errors.TimeoutError],
  ...[errors.ProtocolError, errors.PermissionViolationError, errors.AuthorizationError],
  ...[errors.UserAuthenticationExpiredError, errors.ClosedConnectionError, errors.DrainingConnectionError],
]

/** Why a server did not do what it was asked. */
export function describeFailure(error: unknown): string {
  return error instanceof Error && error.message === '' ? error.name : messageOf(error)
}
