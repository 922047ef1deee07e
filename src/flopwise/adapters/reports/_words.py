"""The words of reports in English and Simplified Chinese. One word per thing, the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from flopwise.domain.plan import PlanOrder

#: Parts of an ISO month and of an ISO day.
_DATE_PARTS = (2, 3)
#: Key to (English, Chinese).
_WORDS: Mapping[str, tuple[str, str]] = {
    "plan": ("Plan", "计划"),
    "as_of": ("as of", "截至"),
    "optimal": ("everything is served", "全部需求可满足"),
    "infeasible": ("not everything can be served", "部分需求无法满足"),
    "gap": ("within {gap} of the least possible cost", "距最低可能成本不超过 {gap}"),
    "cannot": ("What cannot be met", "无法满足的需求"),
    "constraint": ("What binds", "约束"),
    "remedy": ("What would do", "可行办法"),
    "unmet": ("Not served", "未满足"),
    "do_now": ("Do now", "现在要做"),
    "do_now_caption": (
        "The first orders by the day they must be placed; all are in orders.csv",
        "按最迟下单日排列的首批订单；全部见 orders.csv",
    ),
    "no_orders": (
        "Nothing has to be ordered: what is owned or held already does the work.",
        "无需下单：现有的设备与合约已足够。",
    ),
    "what": ("What", "内容"),
    "count": ("Servers", "服务器数"),
    "channel": ("Channel", "渠道"),
    "order_by": ("Order by", "最迟下单"),
    "arrives": ("Arrives", "到位"),
    "until": ("Until", "截止"),
    "why": ("Why", "原因"),
    "money": ("Commits, USD", "承诺金额，美元"),
    "waits_for": ("Waits for", "等待"),
    "stale": ("stale price", "价格过期"),
    "more_orders": ("{count} more orders in orders.csv", "另有 {count} 个订单见 orders.csv"),
    "four": ("In four figures", "四个数字"),
    "total": ("Net present cost", "净现值成本"),
    "interval": ("80 %: {low} to {high}", "80%：{low} 至 {high}"),
    "below_reference": ("{share} below {name}", "比{name}低 {share}"),
    "equal_reference": ("as much as {name}", "与{name}相同"),
    "no_reference": ("no reference plan serves everything", "没有参考方案能满足全部需求"),
    "unit_cost": ("Cost per useful unit", "单位成本"),
    "allocation": ("Hours with work on them", "有负载的时间占比"),
    "allocation_note": ("of accelerator-hours held or rented", "占持有或租用的加速器小时"),
    "risk": ("Largest share of one channel", "单一渠道最大占比"),
    "risk_note": ("{name}; effective number of channels {number}", "{name}；有效渠道数 {number}"),
    "supply": ("Supply against demand", "供给与需求"),
    "supply_caption": (
        "Accelerators by month and source: what is held as the base, what is rented by the hour above it, with what is in use",
        "按月与来源的加速器数量：持有的为基线，按小时租用的在其上，并标出使用量",
    ),
    "demand_caption": ("Demand by month before headroom: peak and mean", "未计余量的月度需求：峰值与均值"),
    "week_caption": ("A representative weekday and weekend day by the hour (UTC)", "代表性工作日与周末（UTC 小时）"),
    "timeline_caption": (
        "Orders: from the day they must be placed to the end of what they bring",
        "订单时间线：从最迟下单日到合约结束",
    ),
    "mix": ("Why this mix", "为何如此组合"),
    "reference": ("Reference plan", "参考方案"),
    "npv": ("Net present cost, USD", "净现值，美元"),
    "over": ("Over this plan, USD", "高于本计划，美元"),
    "note": ("Note", "说明"),
    "references_caption": ("The plan beside the plans it was compared with", "本计划与参考方案对比"),
    "break_even": ("Where it turns", "盈亏平衡"),
    "breaks": ("What breaks us", "薄弱之处"),
    "tier": ("Tier", "层级"),
    "shares": ("Shares", "占比"),
    "hhi": ("HHI", "HHI"),
    "effective": ("Effective number", "有效数量"),
    "limit": ("Limit", "上限"),
    "exceeded": ("exceeded", "已超出"),
    "concentration_caption": (
        "Concentration in accelerator-hours; above 1,800 a market counts as highly concentrated",
        "按加速器小时计的集中度；HHI 高于 1800 视为高度集中",
    ),
    "tornado_caption": ("How far the total moves over the range of each assumption", "各假设在其范围内对总成本的影响"),
    "needed": ("What is needed", "需求明细"),
    "model": ("Model", "模型"),
    "derivation": ("From words to numbers", "推算过程"),
    "chosen_mode": ("Chosen mode", "选定方式"),
    "minor_modes": ("Modes that do little of the work", "承担少量工作的方式"),
    "no_mode": ("No mode of this workload runs.", "该负载没有可运行的方式。"),
    "layout": ("Layout", "布局"),
    "rate": ("Rate", "速率"),
    "share": ("Share", "份额"),
    "evidence": ("Evidence", "依据"),
    "binds": ("binds", "瓶颈"),
    "memory": ("Memory on the worst accelerator", "最满加速器的显存"),
    "runners_up": ("Runners-up, and why they lost", "备选方式及落选原因"),
    "refusals": ("Why other platforms cannot run it", "其他平台不可行的原因"),
    "unit_price": ("USD per 1M tokens", "美元/百万词元"),
    "platform": ("Platform", "平台"),
    "accelerators": ("Accelerators", "加速器数"),
    "verdict": ("Verdict", "结论"),
    "headroom": ("Headroom", "余量"),
    "headroom_caption": ("One budget over the need, and what draws on it", "统一余量预算及其用途"),
    "unallocated": ("not allocated", "未分配"),
    "wired": ("How it is wired", "部署与物料"),
    "bill_caption": (
        "Bill of materials of what is bought; the network is charged as a share of the server price",
        "采购物料清单；网络按服务器价格的比例计费",
    ),
    "no_bill": ("Nothing is bought, so there is nothing to wire.", "没有采购，因此无需布线。"),
    "site": ("Site", "机房"),
    "item": ("Item", "物料"),
    "description": ("Description", "说明"),
    "number": ("Count", "数量"),
    "amount": ("Amount, USD", "金额，美元"),
    "power": ("Power", "功率"),
    "costs": ("What it costs", "成本"),
    "component": ("Component", "组成"),
    "cash": ("Cash, USD", "现金，美元"),
    "costs_caption": ("Cash by component and calendar year, and its net present value", "按组成与年份的现金及净现值"),
    "sum": ("Total", "合计"),
    "unit_costs_caption": ("Cost per useful unit of work", "每单位有效工作的成本"),
    "assumed": ("What is assumed", "假设"),
    "assumption": ("Assumption", "假设"),
    "value": ("Value", "取值"),
    "range": ("Range", "范围"),
    "swing": ("Moves the total by, USD", "影响总成本，美元"),
    "source": ("Source", "来源"),
    "top_assumptions": ("The five that cost most", "影响最大的五项"),
    "other_assumptions": ("The other {count}", "其余 {count} 项"),
    "coverage": ("Offers considered", "纳入的报价"),
    "coverage_caption": (
        "By channel and kind of contract; prices older than 90 days are stale and their intervals wider",
        "按渠道与合约类型；超过 90 天的价格视为过期并加宽区间",
    ),
    "kind": ("Kind", "类型"),
    "offers": ("Offers", "报价数"),
    "oldest": ("Oldest", "最早"),
    "newest": ("Newest", "最新"),
    "stale_count": ("Stale", "过期"),
    "warnings": ("Warnings", "警告"),
    "not_modelled": ("Not modelled", "未建模"),
    "not_modelled_text": (
        (
            "Uncertainty is shown and not optimised over; limits on shares are reported and not enforced; replicas are continuous "
            "above the smallest deployment; readiness of software on a platform is not known."
        ),
        "不确定性只展示、不参与优化；占比上限只报告、不强制；最小部署以上的副本数按连续值处理；未评估各平台的软件就绪程度。",
    ),
    "figures": ("All figures", "全部数字"),
    "figures_caption": ("Each figure with its interval, formula, inputs and sources", "每个数字的区间、公式、输入与来源"),
    "figure": ("Figure", "数字"),
    "formula": ("Formula", "公式"),
    "inputs": ("Inputs", "输入"),
    "english_notes": ("", "理由、推算与来源等自由文本以英文给出。"),
    "of_month": (", {month}", "，{month}"),
    "of_not_served": ("is not served", "无法满足"),
    "full_stop": (". ", "。"),
    "colon": (": ", "："),
    "no_reason": (
        "Some demand cannot be met; the planner named no single constraint. Relax the budgets or name more channels.",
        "部分需求无法满足，且没有单一约束。请放宽预算或增加渠道。",
    ),
    "why_now": ("Why now", "为何现在"),
    "above_reference": ("{share} above {name}", "比{name}高 {share}"),
    "at_peak": ("at most {count} accelerators in use at once", "同时使用的加速器至多 {count} 个"),
    "above_mean": ("above the mean", "均值以上"),
    "workload": ("Workload", "负载"),
    "mean_head": ("Mean", "均值"),
    "peak_head": ("Peak", "峰值"),
    "work_is": ("", "共 "),
    "memory_parts": ("Memory by part", "显存构成"),
    "detail": ("In detail", "细节"),
    "loads": ("Used share of what there is", "各资源使用占比"),
    "bottleneck": ("Bottleneck", "瓶颈"),
    "overdrawn": ("overdrawn", "超支"),
    "budget": ("Budget", "预算"),
    "budget_note": ("of the need before headroom", "占未计余量的需求"),
    "rack_units": ("Rack units", "机架单位"),
    "interval_head": ("80 % interval", "80% 区间"),
    "not_varied": ("not varied", "未变动"),
    "sources_head": ("Sources", "来源"),
    "no_figures": ("This plan holds no figures.", "本计划没有数字。"),
    "cash_word": ("cash over the horizon", "规划期现金"),
    "axis_month": ("Month", "月份"),
    "axis_date": ("Date", "日期"),
    "axis_hour": ("Hour of the day, UTC", "一天中的小时（UTC）"),
    "axis_accelerators": ("Accelerators", "加速器数"),
    "axis_in_use": ("Accelerators in use", "使用中的加速器"),
    "axis_need": ("Need, share of the highest shown", "需求，占所示峰值的比例"),
    "axis_npv": ("Net present cost over the horizon, USD", "规划期净现值成本，美元"),
    "axis_swing": ("Change of net present cost over the range, USD", "在取值范围内净现值成本的变化，美元"),
    "axis_cash": ("Cash in the calendar year, USD", "当年现金，美元"),
    "weekday": ("Weekday", "工作日"),
    "weekend": ("Weekend day", "周末"),
    "other": ("other", "其他"),
    "leaves": ("leaves undone: {what}", "未满足：{what}"),
    "owned": ("owned", "自有"),
    "purchased": ("purchased", "采购"),
    "legend_mean": ("{source}, hourly mean", "{source}，小时均值"),
    "legend_peak": ("{source}, above the mean up to the peak", "{source}，均值以上至峰值"),
    "used_mean": ("in use, mean", "使用量均值"),
    "used_peak": ("in use, peak of each pool added up", "使用量，各资源池峰值之和"),
    "legend_wait": ("from order to arrival", "下单至到位"),
    "legend_as_of": ("today in the plan: {day}", "计划基准日：{day}"),
    "legend_feasible": ("serves everything", "满足全部需求"),
    "legend_partial": ("leaves demand unserved: its cost cannot be compared", "有未满足的需求：成本不可直接比较"),
    "legend_interval": ("80 % interval", "80% 区间"),
    "legend_need_peak": ("peak", "峰值"),
    "legend_need_mean": ("mean", "均值"),
    "hosted_rows": ("Work that a hosted API does", "由托管 API 完成的工作"),
    "hosted_caption": ("Requests per second by month with any", "有请求的月份及每秒请求数"),
    "mean_peak": ("mean {mean}, peak {peak}", "均值 {mean}，峰值 {peak}"),
    "months_head": ("Months", "月份"),
    "no_pools": ("No accelerators are held or rented.", "不持有也不租用加速器。"),
    "no_references": ("No reference plan was solved beside this one.", "未求解参考方案。"),
    "no_assumptions": ("Everything was stated in the scenario.", "场景中已给出全部取值。"),
    "no_costs": ("Nothing costs anything in this plan.", "本计划没有任何成本。"),
    "no_coverage": ("No offers were considered.", "未纳入任何报价。"),
    "no_risk": ("No accelerators, so nothing is concentrated.", "没有加速器，因此没有集中度。"),
    "no_swing": ("No assumption was varied.", "未对假设做敏感性分析。"),
    "as_table": ("The same as a table", "以表格查看"),
    "this_plan_cost": ("This plan", "本计划"),
    "seed": ("seed", "随机种子"),
    "scenario": ("scenario", "场景"),
    "catalogue": ("catalogue", "目录"),
    "contents": ("Contents", "目录"),
    "per_million": ("per million tokens, {name}", "每百万词元，{name}"),
    "per_useful": ("per useful PFLOP-hour, {name}", "每有效 PFLOP 小时，{name}"),
    "per_accelerator_hour": ("per accelerator-hour held or rented", "每持有或租用的加速器小时"),
    "against_market": ("dearest platform that runs it: {most}", "可运行的最贵平台：{most}"),
    "no_unit_cost": ("nothing is served", "没有产出"),
    "not_known": ("not known", "未知"),
    "no_pool_use": ("nothing is held or rented", "未持有或租用"),
    "all_stale": ("{count} of {all} offers are stale", "{all} 条报价中有 {count} 条过期"),
    "memory_of": ("{used} of {all} per accelerator", "每加速器 {used} / {all}"),
    "range_of": ("80 %: {low} to {high}", "80%：{low} 至 {high}"),
    "gang": ("{count} accelerators together", "{count} 个加速器一组"),
    "work": ("{work} over the horizon", "规划期内共 {work}"),
    "refusal_of": ("short by {shortfall}", "缺口 {shortfall}"),
    "refusals_count": ("Platforms that cannot run it: {count}", "不可行的平台：{count}"),
    "runners_count": ("Runners-up, and why they lost: {count}", "备选方式及落选原因：{count}"),
    "also_chosen": ("Also chosen", "同时选用"),
    "pooled": ("Pool", "资源池"),
    "id": ("Id", "编号"),
    "unit": ("Unit", "单位"),
    "year": ("Year", "年份"),
    "category": ("FOCUS category", "FOCUS 类别"),
    "reason": ("Reason", "原因"),
    "year_caption": ("Cash by calendar year and component", "按年份与组成的现金"),
    "paragraph_fits": (
        "The plan is the cheapest mix that was found of everything the scenario allows{gap}.",
        "本计划是在场景允许的全部选项中找到的最低成本组合{gap}。",
    ),
    "paragraph_gap": (", proven to {gap} of the least possible cost", "，与最低可能成本的差距不超过 {gap}"),
    "paragraph_saves": (
        "Of the plans it was compared with, {name} is the cheapest that serves everything; it costs {more} more ({share}).",
        "在可满足全部需求的参考方案中，{name}成本最低，比本计划高 {more}（{share}）。",
    ),
    "paragraph_same": (
        "Of the plans it was compared with, {name} costs the same: this mix is that plan.",
        "在参考方案中，{name}成本相同：本组合即该方案。",
    ),
    "paragraph_none": (
        "None of the plans it was compared with serves everything.",
        "没有参考方案能满足全部需求。",
    ),
    "paragraph_leaves": ("{names} would leave demand unserved.", "{names}无法满足全部需求。"),
    "paragraph_base": (
        "Held capacity does {held} of the accelerator-hours; capacity paid by the hour does the rest.",
        "持有的容量承担 {held} 的加速器小时，其余按小时付费。",
    ),
    "not_full": (
        "Contract kinds without any offer considered: {kinds}. This is not a full comparison.",
        "没有任何报价的合约类型：{kinds}。因此这不是完整的比较。",
    ),
    "sentence_nothing": ("order nothing", "无需下单"),
    "sentence_more": (" and {count} more orders", "等，另有 {count} 个订单"),
    "sentence_cost": ("{total} over {months} months ({interval})", "{months} 个月共 {total}（{interval}）"),
    "sentence_below": (", {share} below {name}", "，比{name}低 {share}"),
    "sentence_above": (", {share} above {name}", "，比{name}高 {share}"),
    "sentence_same": (", as much as {name}", "，与{name}相同"),
    "sentence_served": ("; only {share} of the work can be done", "；仅能完成 {share} 的工作"),
    "do_purchase": ("buy {count} {server} from {channel} by {order_by}", "{order_by}前向 {channel} 购买 {count} 台 {server}"),
    "do_reserved": ("reserve {count} {server} from {channel} until {until}", "在 {channel} 预留 {count} 台 {server} 至{until}"),
    "do_capacity-block": ("book {count} {server} from {channel}", "在 {channel} 预订 {count} 台 {server}"),
    "do_lease": ("lease {count} {server} from {channel}", "向 {channel} 租赁 {count} 台 {server}"),
    "do_on-demand": ("rent up to {count} {server} on demand from {channel}", "在 {channel} 按需租用至多 {count} 台 {server}"),
    "do_spot": ("rent up to {count} {server} on spot from {channel}", "在 {channel} 以抢占式租用至多 {count} 台 {server}"),
    "do_hosted": ("call {channel}", "调用 {channel}"),
    "do_other": ("order {count} {server} from {channel}", "向 {channel} 订购 {count} 台 {server}"),
    "server-hour": ("server-hour", "服务器小时"),
    "server": ("server", "服务器"),
    "request": ("request", "请求"),
    "training": ("training", "训练"),
    "serving": ("serving", "推理服务"),
    "fine-tune": ("fine-tuning", "微调"),
    "rl": ("reinforcement learning", "强化学习"),
    "embedding": ("embedding", "向量嵌入"),
    "batch-inference": ("batch inference", "批量推理"),
    "experiment": ("experiments", "实验"),
    "interactive": ("interactive", "交互"),
    "custom-silicon": ("own chip", "自研芯片"),
    "weights": ("weights", "权重"),
    "gradients": ("gradients", "梯度"),
    "optimizer": ("optimizer", "优化器"),
    "activations": ("activations", "激活"),
    "kv_cache": ("KV cache", "KV 缓存"),
    "precision": ("precision", "精度"),
    "latency": ("latency", "时延"),
    "batch": ("batch", "批量"),
    "unmet_work": ("Unmet work", "未满足工作"),
    # Kinds of contract, sources, loads, tiers
    "purchase": ("purchase", "购买"),
    "reserved": ("reserved", "预留"),
    "lease": ("lease", "租赁"),
    "capacity-block": ("capacity block", "容量块"),
    "on-demand": ("on demand", "按需"),
    "spot": ("spot", "抢占式"),
    "hosted": ("hosted API", "托管 API"),
    "vendor": ("vendor", "厂商"),
    "accelerator": ("accelerator", "加速器"),
    "place": ("place", "地点"),
    "memory_capacity": ("memory capacity", "显存容量"),
    "memory capacity": ("memory capacity", "显存容量"),
    "compute": ("compute", "算力"),
    "memory bandwidth": ("memory bandwidth", "显存带宽"),
    "memory_bandwidth": ("memory bandwidth", "显存带宽"),
    "interconnect": ("interconnect", "互连"),
    "datasheet": ("datasheet", "数据表"),
    "published": ("published", "公开测量"),
    "measured": ("measured", "自测"),
    "this plan": ("this plan", "本计划"),
    "buy only": ("buy only", "只购买"),
    "rent only": ("rent only", "只租用"),
    "hybrid": ("hybrid", "混合"),
    "nothing new": ("nothing new", "不新增"),
    # Cost components
    "hardware": ("Servers bought", "购买服务器"),
    "network": ("Network", "网络"),
    "storage": ("Storage", "存储"),
    "residual": ("Residual value", "残值"),
    "power_cost": ("Power and cooling", "电力与冷却"),
    "space": ("Space", "机位"),
    "support": ("Support", "维保"),
    "staff": ("Staff", "人员"),
    "reserved_cost": ("Reserved capacity", "预留容量"),
    "on_demand": ("On demand", "按需"),
    "commitment": ("Commitments held", "已有承诺"),
    "hosted_cost": ("Hosted APIs", "托管 API"),
    "spot_cost": ("Spot capacity", "抢占式容量"),
}


class Words:
    """Texts of one language."""

    def __init__(self, lang: str) -> None:
        """``lang`` is ``en`` or ``zh``."""
        self.lang = lang

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, with values filled in; a key without an entry is its own text."""
        pair = _WORDS.get(key)
        if pair is None:
            return key
        text = pair[self.lang == "zh"]
        return text.format(**values) if values else text

    def month(self, month: str) -> str:
        """An ISO month or day as the language writes it; other text stays as it is."""
        parts = month.split("-")
        if self.lang != "zh" or not all(part.isdigit() for part in parts) or len(parts) not in _DATE_PARTS:
            return month
        return f"{parts[0]}年{int(parts[1])}月" + (f"{int(parts[2])}日" if len(parts) == _DATE_PARTS[1] else "")

    def component(self, name: str, label: str) -> str:
        """A cost component; its English label where no word is known."""
        keys = {"power": "power_cost", "reserved": "reserved_cost", "hosted": "hosted_cost", "spot": "spot_cost"}
        found = _WORDS.get(keys.get(name, name))
        return label if found is None or self.lang != "zh" else found[1]

    def kind(self, kind: str) -> str:
        """A kind of contract, with its term where it has one: ``reserved 12 months``."""
        name, _, term = kind.partition(" ")
        count = term.split(" ")[0]
        if not count.isdigit():
            return self(kind)
        return f"{self(name)} {count} 个月" if self.lang == "zh" else f"{self(name)} {term}"

    def reference(self, name: str) -> str:
        """A reference plan; Chinese names stand in quotes inside sentences."""
        return f"“{self(name)}”" if self.lang == "zh" else self(name)

    def what(self, order: PlanOrder) -> str:
        """What an order does, in words: ``buy 24 dgx-h200 from oem by 2027-01-18``."""
        key = f"do_{order.kind}" if f"do_{order.kind}" in _WORDS else "do_other"
        return self(
            key,
            count=order.servers,
            server=order.server,
            channel=order.channel,
            order_by=self.month(order.order_by),
            until=self.month(order.until or ""),
        )

    def interval(self, low: str, high: str) -> str:
        """An 80 % interval."""
        return self("interval", low=low, high=high)
