import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';

const VERSION = '24.2.0';
const METHODS = ['append', 'batchappend', 'read', 'delete', 'tombstone'];
const LEADER = 8;

export function supportedMethods(
  _: ServerUnaryCall<sharedPb.Empty, featuresPb.SupportedMethods>,
  answer: sendUnaryData<featuresPb.SupportedMethods>,
): void {
  const methods = METHODS.map((name) =>
    new featuresPb.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  answer(null, new featuresPb.SupportedMethods().setEventStoreServerVersion(VERSION).setMethodsList(methods));
}

/** A cluster of one node: this one as the leader, unless another is named. */
export function clusterInfo(address: string, port: number): gossipPb.ClusterInfo {
  const member = new gossipPb.MemberInfo()
    .setInstanceId(new sharedPb.UUID().setString(crypto.randomUUID()))
    .setTimeStamp(String(Date.now() * 10_000))
    .setState(LEADER)
    .setIsAlive(true)
    .setHttpEndPoint(new gossipPb.EndPoint().setAddress(address).setPort(port));
  return new gossipPb.ClusterInfo().setMembersList([member]);
}
