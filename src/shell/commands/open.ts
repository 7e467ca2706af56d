import { UsageError } from '../../errors.ts';
import { DEVICES } from '../grammar/options.ts';
import { oneDevice } from './arguments.ts';
import { command } from '../command.ts';
import { info } from '../output.ts';

export const open = command({
  name: 'open',
  brief: 'Open the API of a device in the browser',
  section: 'Raw API',
  summary: 'Open a page of the API in the browser, and print its address',
  args: [
    oneDevice('DEVICE', 'the device; the selected one when none is given'),
    { name: 'PATH', summary: 'the page, as in /api/user/' },
  ],
  options: [...DEVICES, 'profile'],
  details: 'The browser checks the certificate and asks for the login by itself.',
  examples: ['open', 'open fw1 /api/user/'],
  async *run(call) {
    const [first, second] = [call.args.optional('DEVICE'), call.args.optional('PATH')];
    const isPath = first?.startsWith('/') === true;
    const members =
      first === undefined || isPath ? await call.members() : await call.resolve([first]);
    const [member] = members;
    if (member === undefined || members.length > 1) {
      throw new UsageError(`open takes one device, not ${members.length}: name it`);
    }
    const path = (isPath ? first : second) ?? member.profile.basePath;
    const origin = `https://${member.ref.address}`;
    const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
    if (!path.startsWith('/') || url?.host !== new URL(origin).host) {
      throw new UsageError(`"${path}" is not a path from the root: it begins with one /`);
    }
    const isOpen = await call.session.services.openInBrowser(url.href);
    yield { kind: 'text', name: 'url', text: url.href };
    if (!isOpen) {
      yield info('no browser could be started here: open the address yourself');
    }
  },
});
