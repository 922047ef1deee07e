"""Sentences that the planner writes in English, and their Chinese: patterns, with the groups of the pattern."""

from __future__ import annotations

from collections.abc import Mapping

#: Pattern to Chinese, with the groups of the pattern.
ZH: Mapping[str, str] = {
    r"up to (\S+) at once \((\S+)\), (\S+) on average while it runs: (.+)": r"同时至多 \1 台（\2），运行期间平均 \3 台：\4",
    r"(.+); (\S+) to (\S+) servers in (\S+); in use (.+) of the hours held from then on": (
        r"\1；\4 起由 \2 台增至 \3 台；此后占持有时间的 \5 在使用"
    ),
    r"(\S+): the loss of one of (\S+) zones takes (.+) of its capacity, more than the headroom of (.+): state more zones, or "
    r"more headroom": r"\1：\2 个故障域失去一个即失去 \3 的容量，超过余量 \4：请增加故障域或余量",
    r"(\S+): up to (.+)": r"\1：至多 \2",
    r"(\S+) ready in (\S+)": r"\1 于 \2 就绪",
    r"a rate limit that holds the peak": "足以承受峰值的速率限额",
    r"chosen in (.+)": r"选用于 \1",
    r"cheapest on (.+)": r"最便宜：\1",
    r"as cheap on (.+) at full use, but it does not fit the times, caps or limits as well": (
        r"满载时在 \1 上同样便宜，但与时间、上限或约束不够契合"
    ),
    r"cheaper on (.+) than new servers of the chosen kind, but those that stand already are paid": (
        r"在 \1 上比新购同类服务器便宜，但现有服务器已付清"
    ),
    r"owned servers and commitments cost (.+) in (\S+), more than the monthly budget of (.+); they are paid in any case "
    r"\((\S+) of (\S+) months\)": (r"现有服务器与承诺在 \2 花费 \1，超过月度预算 \3；无论如何都须支付（\5 个月中有 \4 个月）"),
    r"Of it for what stands and is committed already, under any plan": "其中现有设备与已有承诺的成本（任何方案下都须支付）",
    r"(.+) dearer per token at full use, cheapest on (.+)": r"满载时每词元贵 \1，最便宜处为 \2",
    r"the cheapest mix of all that is allowed": "允许范围内的最低成本组合",
    r"servers bought, nothing rented": "购买服务器，不租用",
    r"reserved, by the hour and spot, nothing bought": "预留、按小时与抢占式，不购买",
    r"bought and rented, no hosted API": "购买与租用，不用托管 API",
    r"only what is owned and held already": "仅用现有设备与合约",
    r"no offers of kind (.+) that suit the work: not a full comparison": r"没有适合该工作的 \1 报价：并非完整比较",
    r"(\S+): owning (.+) at (.+) per server, all in over (\S+) years, pays above (.+) use against (\S+) at (.+), "
    r"per unit of work": (r"\1：以 \4 年全部成本计，自有 \2 每台 \3；按单位工作与 \6（\7）相比，利用率高于 \5 时划算"),
    r"(\S+): owning (.+) at (.+) per server, all in over (\S+) years, never pays within its life against (\S+) at (.+), "
    r"per unit of work": (r"\1：以 \4 年全部成本计，自有 \2 每台 \3；按单位工作与 \5（\6）相比，寿命期内始终不划算"),
    r"sold when this plan ends, after (\S+) months, it does not pay": r"若在本方案结束时（\1 个月后）出售，则不划算",
    r"sold when this plan ends, after (\S+) months, it pays above (.+) use": (
        r"若在本方案结束时（\1 个月后）出售，利用率高于 \2 时划算"
    ),
    r"that deployment serves (.+) tokens a day, so it never gets there": r"该部署每天只能服务 \1 词元，因此达不到",
    r"Headroom over the need, one budget": "需求之上的余量，统一预算",
    r"no offer of the scenario carries an accelerator: its channels, region or cooling leave none": (
        "场景中没有任何带加速器的报价：其渠道、区域或冷却方式未留下可选项"
    ),
    r"name another channel or region, or add your own quote; 'flopwise catalog list offers' shows what there is": (
        "请指定其他渠道或区域，或加入您的报价；'flopwise catalog list offers' 列出现有报价"
    ),
    r"(\S+): (\S+) x (\S+) (.+) on (\S+) at (.+) cost less than (\S+) at (\S+) USD per million tokens above (.+) tokens a day": (
        r"\1：\5 上的 \2 x \3 \4（\6）在每天超过 \9 词元时比 \7（每百万词元 \8 美元）便宜"
    ),
    r"(.+) stated; x (.+) in service \(promises just kept\) = (.+) in flight": (
        r"给定 \1；乘以服务时间 \2（恰好满足承诺）= \3 个并发"
    ),
    r"growth (.+) a month: (.+) in (\S+) to (.+) in (\S+) at the peak, (.+) on average \((\S+) days in (\S+)\)": (
        r"每月增长 \1：峰值由 \3 的 \2 到 \5 的 \4，平均 \6（\8 的 \7 日）"
    ),
    r"(.+) requests x \((\S+) in \+ (\S+) out\) = (.+); (.+) per request": r"\1 个请求 x（输入 \2 + 输出 \3）= \4；每请求 \5",
    r"KV cache (.+) per token at (\S+): (.+) for one mean request at its end": r"KV 缓存每词元 \1（\2）：一个平均请求结束时为 \3",
    r"(.+) per token \(causal attention at (\S+) tokens, no recompute\) x (.+) = (.+)": (
        r"每词元 \1（因果注意力，序列 \2，无重算）x \3 = \4"
    ),
    r"(.+) parameters, (.+) active per token": r"\1 个参数，每词元激活 \2 个",
    r"(.+) in (\S+) days: (.+) without failures and headroom, (.+) with headroom": (
        r"\1，\2 天内完成：不计故障与余量为 \3，含余量为 \4"
    ),
    r"a run every (.+), in every month of the horizon": r"规划期内每月均运行，每 \1 一次",
    r"(\S+) failures per accelerator and day, (\S+) days of repair, the whole server is out": (
        r"每加速器每天 \1 次故障，维修 \2 天，整台服务器停用"
    ),
    r"one replica of (\S+) may fail while (\S+) availability is promised": r"承诺可用性 \2，\1 个副本中可失效一个",
    r"(\S+) instead of (\S+) a month, for (\S+) months until more can be ordered": r"每月 \1 而非 \2，持续 \3 个月直到可再下单",
    r"(\S+) of training": r"训练的 \1",
    r"spares": "备件",
    r"owned": "自有",
    r"(\S+): one replica": r"\1：一个副本",
    r"(\S+): growth": r"\1：增长",
    r"headroom of (\S+) is overdrawn by (\S+): (.+); raise it or accept the shortfall": (
        r"余量 \1 超支 \2：\3；请提高余量或接受缺口"
    ),
    r"headroom of (\S+) is outside the usual (\S+) to (\S+)": r"余量 \1 超出通常的 \2 至 \3",
    r"the commitment with (\S+) pays for (.+) of its fee; (.+) are due for nothing: other supply costs less than its on-demand "
    r"prices, or it fits no work": (r"与 \1 的承诺仅抵用费用的 \2；\3 将白付：其他供给比其按需价格便宜，或不适合任何工作"),
    r"(\S+) calls (\S+), whose latency, availability, rate limits and precision are not known here: compare its terms with the "
    r"promises of the service": r"\1 调用 \2，其延迟、可用性、速率限额与精度未知：请与服务承诺对照其条款",
    r"new supply comes from (.+) alone; the scenario asks for (\S+) channels \(reported, not enforced\)": (
        r"新供给仅来自 \1；场景要求 \2 个渠道（仅报告，未强制）"
    ),
    r"finance\.tax is not in the costs of this version: all amounts are before tax": (
        "本版本成本不含 finance.tax：所有金额均为税前"
    ),
    r"risk\.scenarios is noted: this version plans one future and shows how wrong it may be": (
        "risk.scenarios 仅记录：本版本只规划一种未来，并给出误差区间"
    ),
    r"(\S+): engine (\S+) is planned at the rates of (\S+)": r"\1：引擎 \2 按 \3 的速率规划",
    r"(\S+): 'checkpoint\.storage' is noted; checkpoints are planned at the usual bandwidth": (
        r"\1：checkpoint.storage 仅记录；检查点按通常带宽规划"
    ),
    r"(\S+): 'quality' is noted; the model and precision are planned as stated": r"\1：quality 仅记录；按给定模型与精度规划",
    r"risk\.cvar is not weighed by this version: uncertainty is shown and not optimised over": (
        "本版本不计 risk.cvar 权重：不确定性仅展示，不参与优化"
    ),
    r"the exchange rate of (\S+) is of (\S+), (\S+) days old": r"\1 的汇率日期为 \2，已有 \3 天",
    r"line (\S+): the horizon starts in (\S+), before the day of the plan, (\S+): orders for its first months "
    r"can no longer be placed": r"第 \1 行：规划期从 \2 开始，早于方案日期 \3：最初几个月的订单已无法下达",
    r"your quote (\S+) is not used: it arrives after the horizon, does not fit the site, or no work can run on it": (
        r"未采用您的报价 \1：到货晚于规划期、站点放不下，或没有工作能在其上运行"
    ),
    r"your quote (\S+) is not used: what stands already does the work that it could do \((.+)\)": (
        r"未采用您的报价 \1：它能做的工作（\2）已由现有设备完成"
    ),
    r"your quote (\S+) is not used: at full use it is (.+) dearer for (\S+) than (\S+), which the plan uses": (
        r"未采用您的报价 \1：满载时对 \3 比方案所用的 \4 贵 \2"
    ),
    r"your quote (\S+) is not used: at full use it is (.+) cheaper for (\S+) than (\S+), which the plan uses, "
    r"but it is paid for idle hours too, and (\S+) only for use": (
        r"未采用您的报价 \1：满载时对 \3 比方案所用的 \4 便宜 \2，但空闲时也要付费，而 \5 只按使用付费"
    ),
    r"your quote (\S+) is not used: at full use it is (.+) cheaper for (\S+) than (\S+), which the plan uses, "
    r"but its first month, cap, size or budget fits less well": (
        r"未采用您的报价 \1：满载时对 \3 比方案所用的 \4 便宜 \2，但其起始月、上限、规模或预算不合适"
    ),
    r"your quote (\S+) is (.+) per accelerator, where (\S+) shipped offers of (\S+) (\S+) have a median of (.+): check its "
    r"price, currency and number of accelerators": (
        r"您的报价 \1 每加速器 \2，而内置的 \3 条 \4（\5）报价中位数为 \6：请核对价格、币种与加速器数量"
    ),
    r"left out: (\S+) offers? of (\S+): outside region '(\S+)' \(region: (.+) allows them\)": (
        r"已排除：\2 的 \1 条报价不在区域“\3”（region 设为 \4 可纳入）"
    ),
    r"left out: (\S+) offers? of (\S+): your quote stands for (\S+) x (\S+), (\S+) for (\S+) months": (
        r"已排除：\2 的 \1 条报价，由您的 \3 x \4 报价（\5，\6 个月）取代"
    ),
    r"left out: (\S+) offers? of (\S+): your quote stands for (\S+) x (\S+), (\S+)": (
        r"已排除：\2 的 \1 条报价，由您的 \3 x \4 报价（\5）取代"
    ),
    r"left out: (\S+) offers? of (\S+): export: (\S+): (.+) \(since (\S+)\)": (
        r"已排除：\2 的 \1 条报价，受出口管制：\3（\4，自 \5 起）"
    ),
    r"this plan costs at most (\S+) more than the least possible, and no better one was found: the proof counts servers in "
    r"parts where whole ones are few": r"本计划成本至多比最低可能成本高 \1，且未找到更优方案：服务器数量少时，证明按部分服务器计",
    r"the servers that stand at (\S+) draw up to (.+) with network and storage, more than its power of (.+): nothing can be "
    r"added there; check the power or the servers": (
        r"\1 现有服务器（含网络与存储）最高功耗 \2，超过其电力 \3：无法再增加；请核对电力或服务器数量"
    ),
    r"your quote (\S+) is not used: its first month, term, cap or size does not suit (.+)": (
        r"未采用您的报价 \1：其起始月、合约期、上限或规模不适合 \2"
    ),
    r"your quote (\S+) is dated (\S+), after the day of the plan \((\S+)\): check its date": (
        r"您的报价 \1 日期为 \2，晚于方案日期 \3：请核对日期"
    ),
    r"(.+) of the cost are owed after (\S+), for reservations that outlast the horizon: what they serve then is not counted; "
    r"plan a longer horizon to see it": (
        r"成本中有 \1 在 \2 之后应付（预留合约超出规划期）：届时提供的服务未计入；延长规划期即可看到"
    ),
    r"left out: (\S+) needs liquid cooling, (\S+) has air": r"已排除：\1 需要液冷，\2 为风冷",
    r"(\S+) on (.+) rests on datasheet figures alone \((.+) expected\): measure before you order": (
        r"\1 在 \2 上仅依据数据表（预期 \3）：下单前请实测"
    ),
    r"global batch rounded from (\S+) to (\S+) sequences": r"全局批量由 \1 调整为 \2 条序列",
    r"(.+) has no (\S+) rate; it lists (.+)": r"\1 没有 \2 算力；支持 \3",
    r"use one of (.+), or another accelerator": r"改用 \1 之一，或换用其他加速器",
    r"(.+): the closest layout \((.+)\) needs (.+) of (.+) per accelerator: (.+) missing": (
        r"\1：最接近的布局（\2）每加速器需要 \3，仅有 \4：缺 \5"
    ),
    r"needs a shorter sequence, or one with (.+) of memory": r"需要更短的序列，或显存为 \1 的加速器",
    r"(.+) of (\S+) cannot be served from (\S+) to (\S+); the (.+) binds": r"\2 的 \1 自 \3 至 \4 无法满足；约束为 \5",
    r"(.+) of (\S+) cannot be served in (\S+); the (.+) binds": r"\2 的 \1 在 \3 无法满足；约束为 \4",
    r"(.+) of (\S+) cannot be served; the (.+) binds": r"\2 的 \1 无法满足；约束为 \3",
    r"(.+) of (\S+) cannot be served from (\S+) to (\S+); (.+) bind together": r"\2 的 \1 自 \3 至 \4 无法满足；共同约束：\5",
    r"(.+) of (\S+) cannot be served in (\S+); (.+) bind together": r"\2 的 \1 在 \3 无法满足；共同约束：\4",
    r"(.+) of (\S+) cannot be served; (.+) bind together": r"\2 的 \1 无法满足；共同约束：\3",
    r"loosen (.+) together, or name more channels": r"请一并放宽 \1，或给出更多渠道",
    r"without the other limits it works with a capital budget of (.+) instead of (.+) and a monthly budget of (.+) "
    r"instead of (.+)": (r"若无其他限制，资本预算 \1（现 \2）与月度预算 \3（现 \4）可行"),
    r"without the other limits it works with a capital budget of (.+) instead of (.+)": r"若无其他限制，资本预算 \1（现 \2）可行",
    r"without the other limits it works with a monthly budget of (.+) instead of (.+)": r"若无其他限制，月度预算 \1（现 \2）可行",
    r"(\S+) does not fit into what is left of (\S+)'s power": r"\1 超出 \2 剩余的电力",
    r"(\S+) needs (\S+) x (\S+) at once, (.+) of servers; the power of (\S+) \((.+)\) leaves room for (\S+)": (
        r"\1 需要同时 \2 x \3（服务器 \4）；\5 的电力（\6）仅容 \7 台"
    ),
    r"give the site more power, or name a channel that rents": "为机房提供更多电力，或给出可租用的渠道",
    r"it works with a quota of (\S+) servers of (\S+) at once; ask the provider, or state max_servers in a quote": (
        r"\2 同时 \1 台的配额即可行；请向供应商申请，或在报价中给出 max_servers"
    ),
    r"the first new servers stand in (\S+) \((\S+) from (\S+), (\S+) weeks at the 90th percentile\): start then, "
    r"or name a channel with shorter lead times or on-demand capacity of that size": (
        r"首批新服务器于 \1 到位（\3 的 \2，90 分位 \4 周）：届时开始，或改用交付更快或有同等按需容量的渠道"
    ),
    r"the least that works is (.+)": r"可行的最低条件：\1",
    r"(\S+) needs (\S+) x (\S+) at once \((\S+) accelerators\); no contract of the scenario can hold that many": (
        r"\1 需要同时 \2 x \3（\4 个加速器）；场景中没有合约能容纳这么多"
    ),
    r"it works with (.+)": r"以下条件可行：\1",
    r"give the sites more power": "为机房提供更多电力",
    r"Net present cost over the horizon": "规划期净现值成本",
    r"Cash, with what is owed after the horizon, residual value credited": "现金（含规划期后应付），已计残值",
    r"Paid out, with what is owed after the horizon, residual value not credited": "实付现金（含规划期后应付），未计残值",
    r"Of it owed after the horizon, for terms that outlast it": "其中规划期后应付（合约期超出规划期）",
    r"Cash in (\d+)": r"\1 年现金",
    r"Cost per accelerator-hour held or rented": "每持有或租用加速器小时成本",
    r"Share of accelerator-hours with work on them": "有负载的加速器小时占比",
    r"(\S+): work over the horizon": r"\1：规划期工作量",
    r"(\S+): highest rate before headroom": r"\1：未计余量的最高速率",
    r"(\S+): share of the work that the plan cannot do": r"\1：计划无法完成的工作占比",
    r"(\S+): rate of one gang": r"\1：一组的速率",
    r"(\S+): rate of one replica": r"\1：一个副本的速率",
    r"(\S+): memory on the worst accelerator": r"\1：最满加速器的显存",
    r"(\S+): share of time that makes progress \(ETTR\)": r"\1：有效推进时间占比（ETTR）",
    r"(\S+): cost per million tokens": r"\1：每百万词元成本",
    r"(\S+): cost per million tokens trained": r"\1：每百万训练词元成本",
    r"(\S+): cost per million tokens of output": r"\1：每百万输出词元成本",
    r"(\S+): cost per million tokens served, prompt and output": r"\1：每百万词元成本（输入与输出）",
    r"(\S+): cost per million tokens (.+)": r"\1：每百万词元成本（\2）",
    r"(\S+): cost per useful PFLOP-hour \(model FLOPs, causal, no recompute\)": (
        r"\1：每有效 PFLOP 小时成本（模型 FLOP，因果，无重算）"
    ),
    r"(purchase|lease|reserved|on-demand|spot|capacity-block|hosted) of (\S+) from (\S+)": r"自 \3 \1 \2",
    r"Reference plan: (.+) \((.+)\)": r"参考方案：\1（\2）",
    r"assumption": "假设",
    r"predicted rate of the chosen mode": "选定方式的预测速率",
    r"(.+), net present": r"\1，净现值",
    # Why a platform carries none of a workload, and what would help.
    r"(.+) on (\S+) x (.+) \(tp (\S+), pp (\S+), dp (\S+)\) reaches (\S+) p95 (.+) with one request running; "
    r"promised (.+): (.+) over": (r"\2 x \3 上的 \1（tp \4、pp \5、dp \6）仅一个请求时 \7 p95 已达 \8；承诺 \9，超出 \10"),
    r"(.+) on (\S+) x (.+) needs (.+) of (.+) per accelerator for weights and one request: (.+) missing": (
        r"\2 x \3 上的 \1：权重与一个请求每加速器需 \4，仅有 \5：缺 \6"
    ),
    r"needs at least (\S+) accelerators of this kind in one replica, or (.+) each": (
        r"一个副本至少需要 \1 个此类加速器，或每个有 \2 显存"
    ),
    r"or fp8 weights": "或用 fp8 权重",
    r"needs at least (\S+) accelerators of this kind, or one with (.+) of memory": (
        r"至少需要 \1 个此类加速器，或显存为 \2 的加速器"
    ),
    r"use (.+), or (.+); or relax the promise": r"换用 \1，或 \2；或放宽承诺",
    r"a gang of (\S+) spans servers of (\S+), and (.+) has no cluster network": (
        r"\1 个加速器跨越每台 \2 个的服务器，而 \3 无集群网络"
    ),
    r"use at most (\S+) accelerators, or an offer with a cluster network": r"最多使用 \1 个加速器，或带集群网络的报价",
    r"no split of (\S+) accelerators suits (\S+) sequences per step and (\S+) layers": (
        r"\1 个加速器没有适合每步 \2 条序列与 \3 层的切分"
    ),
    r"use a size with more divisors, or a larger global batch": "改用约数更多的规模，或更大的全局批量",
    r"planned at (.+) of saturation, the knee of time to first token": r"按饱和点的 \1 规划，即首词元延迟的拐点",
    # Ranges of assumptions.
    r"all ages (.+) lower": r"各年限均低 \1",
    r"all ages (.+) higher": r"各年限均高 \1",
    r"(\S+ %) lower": r"低 \1",
    r"(\S+ %) higher": r"高 \1",
    # Why a value was taken that the scenario does not state.
    r"a common training context": "常用的训练上下文长度",
    r"an optimizer step of published runs": "公开训练的常见优化步规模",
    r"busiest hour over the mean of a week": "最忙小时与一周均值之比",
    r"decides eligibility and facility facts": "决定可用报价与设施参数",
    r"each run is finished before the next one starts": "每次在下一次开始前完成",
    r"engines keep the cache in 16 bits, whatever the weights, unless told": "未另行说明时，引擎以 16 位保存缓存",
    r"facility facts where any region will do": "不限区域时的设施参数",
    r"for failed nodes, growth and experiments": "用于故障节点、增长与实验",
    r"half and twice the middle case": "中间情形的一半与两倍",
    r"liquid-cooled servers need it stated": "液冷服务器须注明",
    r"no channels are named: all of the catalogue, without hosted APIs": "未指定渠道：采用目录全部渠道，不含托管 API",
    r"no cluster network is stated: no work that spans servers": "未注明集群网络：不承载跨服务器的工作",
    r"no currency is stated": "未注明货币",
    r"no date of purchase is stated: taken as new": "未注明购买日期：视为新购",
    r"no failure zones are stated": "未注明故障域",
    r"no growth is stated": "未注明增长",
    r"no limit on the share of one vendor or channel is stated": "未限制单一厂商或渠道的占比",
    r"no number of channels is asked for": "未要求渠道数量",
    r"no promise is stated; usual for a chat": "未注明承诺；按聊天常用值",
    r"no shared prefixes are stated": "未注明共享前缀",
    r"no site is named: a place at the usual terms of (.+), without a power limit": r"未指定站点：按 \1 通常条件的场所，电力不限",
    r"no site is stated: the first one": "未注明站点：取第一个",
    r"no time zone is stated": "未注明时区",
    r"no window is stated": "未注明时间窗",
    r"only the mean is stated; (\S+) times it": r"仅注明均值；取其 \1 倍",
    r"only the median is stated; (\S+) times it": r"仅注明中位数；取其 \1 倍",
    r"people are counted, and people sleep": "以人计数，而人要睡觉",
    r"the engine with most published measurements": "公开测量最多的引擎",
    r"the precision of most published runs": "多数公开训练的精度",
    r"the precision of published weights": "公开权重的精度",
    r"the share of training in 'mix'": "mix 中的训练占比",
    r"amounts in (\S+) are converted to USD": r"\1 金额换算为美元",
}
