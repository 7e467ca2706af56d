import { type Exchange, SimulatedDevice } from '../../src/simulator/device.ts';
import type { ApiRequest, ApiResponse } from '../../src/simulator/view.ts';
import {
  type FaultName,
  FAULTS,
  type FaultScope,
  FaultSwitches,
  type FaultTarget,
} from './faults.ts';
import { WRITES } from './faults/fault.ts';

const WRITE_METHODS: readonly string[] = WRITES;

/** A device of the simulator that does what no device should do, when a test asks for it. */
export class FaultyDevice extends SimulatedDevice {
  readonly #faults = new FaultSwitches();

  /**
   * Switches a fault on (true; `500-once` then strikes one request), off (false), or on for that many
   * requests. Connection faults see no requests, so they are only on or off.
   * @throws RangeError if a connection fault gets a count or a method
   */
  setFault(name: FaultName, on: boolean | number = true, scope: FaultScope = {}): void {
    const isOfConnection = FAULTS.find((fault) => fault.name === name)?.stage === 'connection';
    if (isOfConnection && (typeof on === 'number' || Object.keys(scope).length > 0)) {
      throw new RangeError(`The fault ${name} is on or off, it does not count requests.`);
    }
    this.#faults.set(name, on, scope);
    this.listener.setBehavior(this.#faults.connection);
  }

  clearFaults(): void {
    this.#faults.clear();
    this.listener.setBehavior(this.#faults.connection);
  }

  protected override answer(exchange: Exchange): ApiResponse | 'taken' {
    const { request, wire } = exchange;
    const target = this.#targetOf(exchange);
    const instead = this.#faults.take('request', target)?.reply(request, wire);
    if (instead !== undefined) return instead;
    const reply = super.answer(exchange);
    if (reply === 'taken' || !isBareList(request, reply)) return reply;
    const list = this.#faults.take('list', target);
    if (list === undefined) return reply;
    const records = JSON.parse(reply.body) as object[];
    return { ...reply, body: list.rewrite(records, reply.body, request) };
  }

  protected override execute(exchange: Exchange): ApiResponse {
    const fault = this.#faults.take('write', this.#targetOf(exchange));
    if (fault === undefined) return super.execute(exchange);
    const { site } = this;
    return fault.execute({ site, request: exchange.request, later: this.later.bind(this) });
  }

  protected override transmit(exchange: Exchange, reply: ApiResponse): boolean {
    const fault = this.#faults.take('answer', this.#targetOf(exchange));
    if (fault === undefined) return super.transmit(exchange, reply);
    const changeCertificate = (): void => this.setFault('certificate-change');
    fault.transmit({ ...exchange.wire, changeCertificate }, reply);
    return fault.isLost !== true;
  }

  #targetOf({ request, before }: Exchange): FaultTarget {
    const earlier = this.log.slice(0, before);
    const isAfterWrite = earlier.some(({ method }) => WRITE_METHODS.includes(method));
    return { method: request.method, isAfterWrite };
  }
}

/** Whether a response is a bare list of records. */
function isBareList({ method }: ApiRequest, { status, body }: ApiResponse): boolean {
  return method === 'GET' && status === 200 && body.startsWith('[');
}
