import { DEVICES, WRITE } from '../grammar/options.ts';
import { verb } from '../grammar/spec.ts';

/** `device import`: devices of another inventory into devices.yaml. */
export const importDevices = verb({
  name: 'import',
  summary: 'Take over devices from CSV, ssh, Ansible, NetBox or another devices.yaml',
  args: [
    {
      name: 'SOURCE',
      summary: 'a file, https://netbox/…, or - for standard input',
      isRequired: true,
      complete: () => [{ text: '~/.ssh/config' }, { text: 'https://' }],
    },
  ],
  options: ['from', 'groups', ...WRITE, ...DEVICES],
  details:
    'Shows what would be added and changed, asks, and writes devices.yaml; comments and order stay, and\n' +
    'nothing is taken away. Secrets are never copied. What the source is shows in its name and its\n' +
    'content; --from says it otherwise. "--from ansible" lets ansible-inventory read a file or folder.\n' +
    'The token for NetBox comes from --token-stdin, NETBOX_TOKEN or "login HOST --token".',
  examples: [
    'device import hosts.csv --dry-run',
    'device import ~/.ssh/config --group berlin',
    'device import inventory/ --from ansible',
    'device import https://netbox.example/dcim/devices/?site=berlin',
  ],
  async *run(call) {
    const { takeOverDevices } = await import('../devices/take-over-devices.ts');
    yield* takeOverDevices(call);
  },
});
